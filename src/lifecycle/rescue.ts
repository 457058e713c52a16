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
import { carryActivities, saidOf } from "./carry-activities.ts";
import { carryTimers, startTimers } from "./carry-timers.ts";
import { conclude } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Origin, Rescue, Rescued } from "./input.ts";
import { lastingMarks } from "./marks.ts";
import { timerFault } from "./timers.ts";
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
  const fate = timerFate(from, machine, before.value, { value, pathOf: (state) => [state] });
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
  const outside = activityFate(from, machine, before.value, value);
  const started = { timers: fate.started, invokes: outside.started };
  const outcome = moveIn(machine, { value, history }, NO_MAPPING, data, scope, started);
  if (!outcome.ok) return { ok: false, fault: outcome.fault };

  const effects = new Effects(seq);
  const { envelope: carriedOver, notes } = carryActivities(envelope, outside, effects, at);
  const carried = carryTimers(carriedOver, fate);
  const begun = startTimers(carried.set, outcome.started, () => at, at);
  const fault = timerFault(begun.set);
  if (fault) return { ok: false, fault };
  const set = { ...carriedOver, ...begun.set, definitionId, definitionHash, entered, moves };
  const payload: Rescued = {
    ...(stateValue === undefined ? {} : { stateValue }),
    ...(context === undefined ? {} : { context }),
    ...(other === null ? {} : { to: other.id, toHash: other.hash }),
    reason,
  };
  const { kept, cancelled } = carried;
  const result = { kept, cancelled, started: begun.started, dropped, ...saidOf(notes) };
  return conclude(
    { envelope: set, machine, live: outcome.live },
    outcome,
    {
      kind: "rescued",
      payload: payload as unknown as JsonObject,
      result: result as unknown as JsonObject,
    },
    at,
    origin,
    effects,
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
