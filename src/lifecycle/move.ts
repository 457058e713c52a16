import type { JsonObject } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { activityFate } from "../machine/land-activities.ts";
import { timerFate } from "../machine/land-timers.ts";
import { landHistory } from "../machine/land-history.ts";
import { landingOf } from "../machine/landing.ts";
import type { LandingCode } from "../machine/landing.ts";
import { moveIn } from "../machine/move-in.ts";
import type { MoveInCode } from "../machine/move-in.ts";
import type { Move } from "../migration/rule.ts";
import type { Actor } from "./actor.ts";
import { carryOver } from "./carry-over.ts";
import { conclude } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { NO_ORIGIN } from "./input.ts";
import type { Origin } from "./input.ts";
import { lastingMarks, withMark } from "./marks.ts";
import type { BeforeMove } from "./roll-back.ts";
import type { Envelope } from "./types.ts";

/** Why an actor has no place in another version; the message is a sentence. */
interface Unmappable {
  ok: false;
  code: LandingCode | MoveInCode;
  message: string;
}

/**
 * Moves an actor to another definition of its family, as it stands: state value, remembered states, context, timers and
 * activities are carried over, then eventless transitions of the new version are taken. Nothing is entered or left; a paused
 * actor stays paused, a stranded one goes on.
 */
export function moveBy(
  actor: Actor,
  move: Move,
  target: CompiledMachine,
  at: number,
  origin: Origin = NO_ORIGIN,
): (Advanced & { ok: true }) | Unmappable {
  const { envelope, machine: from } = actor;
  const { stateMapping } = move;
  const { value: oldValue, context: oldContext, history: oldHistory } = envelope.machine;
  const landing = landingOf(from, target, oldValue, stateMapping);
  if (!landing.ok) return landing;
  const { history, dropped } = landHistory(from, target, oldHistory, stateMapping);
  const timers = timerFate(from, target, oldValue, landing);
  const seq = envelope.seq + 1;
  const scope = { id: envelope.id, definitionId: move.to, uid: envelope.uid, seq, now: at };
  const { value } = landing;
  const place = { value, history };
  const activities = activityFate(from, target, oldValue, value);
  const started = { timers: timers.started, invokes: activities.started };
  const outcome = moveIn(target, place, move.contextMapping, oldContext, scope, started);
  if (!outcome.ok) return { ok: false, code: outcome.code, message: outcome.fault.message };

  const enteredAt = (state: string): number =>
    Object.hasOwn(move.entered, state) ? (move.entered[state] as number) : at;
  const fates = { timers, activities, dropped };
  const carried = carryOver(envelope, fates, outcome.started, enteredAt, at);
  if (!carried.ok) return { ok: false, code: "limit_exceeded", message: carried.fault.message };
  const { ruleId, decidedAtSeq } = move;
  const mark = { ruleId, outcome: "migrated", decidedAtSeq, at } as const;
  const moved: Envelope = {
    ...carried.envelope,
    definitionId: move.to,
    definitionHash: move.toHash,
    entered: { seq, steps: envelope.history.steps },
    moves: withMark(lastingMarks(envelope.moves), mark),
  };
  const result = { outcome: "migrated", ...carried.said, before: imageOf(envelope) };
  const concluded = conclude(
    { envelope: moved, machine: target, live: outcome.live },
    outcome,
    {
      kind: "migrated",
      payload: move as unknown as JsonObject,
      result: result as unknown as JsonObject,
    },
    at,
    origin,
    carried.effects,
  );
  if (concluded.ok) return concluded;
  return { ok: false, code: "limit_exceeded", message: concluded.fault.message };
}

/** What a rollback puts back. */
function imageOf(envelope: Envelope): BeforeMove {
  const { definitionId, definitionHash, status, machine, timers, parked, refs, entered } = envelope;
  const states = envelope.activities.map(({ ref, state }) => [ref, state] as const);
  return {
    definitionId,
    definitionHash,
    status,
    machine,
    timers,
    parked,
    refs,
    entered,
    ...(states.length > 0 ? { activityStates: Object.fromEntries(states) } : {}),
  };
}
