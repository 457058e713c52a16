import { callObject } from "../base/call-object.ts";
import type { JsonObject } from "../base/json.ts";
import { given } from "../base/refused.ts";
import { isoTime } from "../base/time.ts";
import { isFinished } from "../lifecycle/actor.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { isTaken } from "../migration/rule.ts";
import type { Rule } from "../migration/rule.ts";
import { readyRule } from "../registry/rule-cache.ts";
import { definitionRows, fingerprintAt } from "../storage/actor-log.ts";
import { decideByLog } from "./decider.ts";
import { refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address, Reply } from "./rpc.ts";

/** The last time that an actor was on a definition: records after `entered`, up to `left`. */
interface Stay {
  entered: number;
  left: number;
}

/**
 * What each rule that is or was about the actor says of its history, computed from log and rules. A rule about a definition
 * that it has left says what it did when the actor left.
 */
export async function decisions(resident: Resident, query: Address): Promise<Reply> {
  const { id, tenant } = query;
  await resident.load();
  const { actor, db, env } = resident;
  if (actor === null) return noSuchActor(id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const { envelope } = actor;
  const stays = staysOf(resident, envelope);
  const ids = [...stays.keys()];
  const rules = given(
    await callObject(env.REGISTRY, tenant, true, (registry) => registry.rulesFrom(ids)),
  );
  if (resident.actor?.envelope.uid !== envelope.uid) return noSuchActor(id);
  const items = rules.map((rule) => decisionOf(db, envelope, rule, stays.get(rule.from) as Stay));
  return answer(200, { items }, envelope.seq);
}

function staysOf({ db }: Resident, { seq, definitionId, entered }: Envelope): Map<string, Stay> {
  const stays = new Map<string, Stay>();
  const came = definitionRows(db, 0, seq);
  for (const [index, row] of came.entries()) {
    // The record that moves it away is still one of this definition.
    const left = came[index + 1]?.seq ?? seq;
    stays.set(row.id, { entered: row.seq, left });
  }
  // After a rollback it is there since before.
  stays.set(definitionId, { entered: entered.seq, left: seq });
  return stays;
}

function decisionOf(db: Resident["db"], envelope: Envelope, rule: Rule, stay: Stay): JsonObject {
  const ready = readyRule(rule);
  const after = rule.since === "birth" ? 0 : stay.entered;
  const { decision, atSeq } = decideByLog(db, ready, after, stay.left);
  const mark = envelope.moves.find(({ ruleId }) => ruleId === rule.id);
  const held =
    decision === "match" &&
    rule.state !== "retired" &&
    rule.from === envelope.definitionId &&
    !isFinished(envelope) &&
    !isTaken(rule, envelope.uid);
  const decided = decision === "pending" ? null : atSeq;
  return {
    ruleId: rule.id,
    from: rule.from,
    to: rule.to,
    decision,
    outcome: mark?.outcome ?? (held ? "held" : "none"),
    ...(mark?.reason === undefined ? {} : { reason: mark.reason }),
    decidedAtSeq: decided,
    fingerprint: fingerprintAt(db, decided ?? stay.left) ?? envelope.history.fingerprint,
    ...(mark === undefined ? {} : { at: isoTime(mark.at) }),
  };
}
