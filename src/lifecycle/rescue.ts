import { PerdureError } from "../base/errors.ts";
import type { Problem } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { activityFate } from "../machine/land-activities.ts";
import { timerFate } from "../machine/land-timers.ts";
import { landHistory } from "../machine/land-history.ts";
import { moveIn } from "../machine/move-in.ts";
import { readSnapshot } from "../machine/snapshot.ts";
import type { StateValue } from "../machine/types.ts";
import type { Actor } from "./actor.ts";
import { carryOver } from "./carry-over.ts";
import { conclude } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import type { Origin, Rescue, Rescued } from "./input.ts";
import { lastingMarks } from "./marks.ts";
import type { Envelope } from "./types.ts";

const NO_MAPPING = {};

/**
 * Sets an actor that has not ended by hand. What is given must fit the definition wholly; timers go by the paths of
 * their states, activities by their ids, and what starts counts from now. Then eventless transitions are taken, and a stranded actor goes on.
 */
export function rescue(
  actor: Actor,
  given: Rescue,
  at: number,
  origin: Origin,
): Advanced | { ok: false; problems: Problem[] } {
  const { envelope, machine: from } = actor;
  const { stateValue, context, reason } = given;
  const other = given.to?.id === envelope.definitionId ? null : given.to;
  const machine = other?.machine ?? from;
  const before = envelope.machine;
  const value = stateValue ?? before.value;
  const problems = problemsOf(machine, value, context ?? before.context);
  if (problems.length > 0) return { ok: false, problems };

  const { history, dropped } =
    other === null
      ? { history: before.history, dropped: [] }
      : landHistory(from, machine, before.history, NO_MAPPING);
  const timers = timerFate(from, machine, before.value, { value, pathOf: (state) => [state] });
  const seq = envelope.seq + 1;
  const there: Pick<Envelope, "definitionId" | "definitionHash" | "entered" | "moves"> =
    other === null
      ? envelope
      : {
          definitionId: other.id,
          definitionHash: other.hash,
          entered: { seq, steps: envelope.history.steps },
          moves: lastingMarks(envelope.moves),
        };
  const { definitionId, definitionHash, entered, moves } = there;
  const scope = { id: envelope.id, definitionId, uid: envelope.uid, seq, now: at };
  const data = context ?? before.context;
  const activities = activityFate(from, machine, before.value, value);
  const started = { timers: timers.started, invokes: activities.started };
  const outcome = moveIn(machine, { value, history }, NO_MAPPING, data, scope, started);
  if (!outcome.ok) return { ok: false, fault: outcome.fault };

  const fates = { timers, activities, dropped };
  const carried = carryOver(envelope, fates, outcome.started, () => at, at);
  if (!carried.ok) return carried;
  const set = { ...carried.envelope, definitionId, definitionHash, entered, moves };
  const payload: Rescued = {
    ...(stateValue === undefined ? {} : { stateValue }),
    ...(context === undefined ? {} : { context }),
    ...(other === null ? {} : { to: other.id, toHash: other.hash }),
    reason,
  };
  return conclude(
    { envelope: set, machine, live: outcome.live },
    outcome,
    {
      kind: "rescued",
      payload: payload as unknown as JsonObject,
      result: carried.said as unknown as JsonObject,
    },
    at,
    origin,
    carried.effects,
  );
}

/** All that does not fit, by pointers into the request. */
function problemsOf(machine: CompiledMachine, value: StateValue, context: JsonObject): Problem[] {
  try {
    readSnapshot(machine, { value, context });
    return [];
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    const { errors = [] } = error.failure;
    return errors.map((problem) => {
      const { pointer } = problem;
      const within = pointer === "/value" || pointer.startsWith("/value/");
      return within ? { ...problem, pointer: `/stateValue${pointer.slice(6)}` } : problem;
    });
  }
}
