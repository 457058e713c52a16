import type { Refused } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { isFinished } from "../lifecycle/actor.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { isTaken } from "../migration/rule.ts";
import { decideByLog } from "./decider.ts";
import { actorMeant } from "./guards.ts";
import type { Reporter } from "./reporter.ts";
import type { Resident } from "./resident.ts";
import type { ActorRpc, Visit } from "./rpc.ts";

/** What a sweep may have taken to be true anyway; of anything else the directory has to know before it asks on. */
const EXPECTED: readonly Visit["outcome"][] = ["pending", "diverged", "held", "outranked"];

/** A sweep's visit: a transaction without an event, and what it made of the actor as far as one rule goes. */
export async function migrate(
  resident: Resident,
  reporter: Reporter | null,
  query: Parameters<ActorRpc["migrate"]>[0],
): Promise<Visit | Refused> {
  const { ruleId, epoch } = query;
  await resident.ready({ epoch });
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const work = resident.work(actor);
  const all = work.fireDue(work.now(Date.now()));
  if (work.changed) resident.commit(work.actor, work.records, undefined, reporter);
  const visit = visitOf(resident, work.actor, ruleId, all);
  if (reporter !== null && (work.changed || !EXPECTED.includes(visit.outcome))) {
    await told(resident, reporter);
  }
  return visit;
}

/**
 * Tells the directory. A move sets no alarm for that: if a crash comes in between, the sweep asks again whoever it was
 * asking, also when it is stopped by then. Where only the directory is out of reach, an alarm sees to it.
 */
async function told(resident: Resident, reporter: Reporter): Promise<void> {
  try {
    await reporter.makeSure({ again: true });
  } catch (error) {
    resident.alarm.remind(Date.now() + LIMITS.settleMs);
    throw error;
  }
}

/** `all`: no timers are due that fire before rules. */
function visitOf(resident: Resident, { envelope }: Actor, ruleId: string, all: boolean): Visit {
  const mark = envelope.moves.find((known) => known.ruleId === ruleId);
  if (mark?.outcome === "migrated" || mark?.outcome === "rolled_back") {
    return { outcome: mark.outcome };
  }
  if (isFinished(envelope)) return { outcome: "finished" };
  const ready = resident.rule(ruleId);
  if (ready === null) return { outcome: "elsewhere" };
  if (mark !== undefined) {
    const { outcome, reason } = mark;
    return reason === undefined ? { outcome } : { outcome, reason };
  }
  const after = ready.compiled.pattern.since === "birth" ? 0 : envelope.entered.seq;
  const { decision } = decideByLog(resident.db, ready, after, envelope.seq);
  if (decision !== "match") return { outcome: decision };
  if (ready.rule.state !== "active" || !isTaken(ready.rule, envelope.uid)) {
    return { outcome: "held" };
  }
  return { outcome: all ? "outranked" : "pending" };
}
