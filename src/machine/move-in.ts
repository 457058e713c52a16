import type { JsonObject } from "../base/json.ts";
import type { CompiledMachine, Invoke } from "./compile.ts";
import { compileContextMapping } from "./context-mapping.ts";
import { Evaluation } from "./evaluation.ts";
import type { Fault } from "./evaluation.ts";
import type { AfterKey } from "./land-timers.ts";
import { restore } from "./live.ts";
import { INIT, delayOf, run, startsOf, transition } from "./step.ts";
import type { Step } from "./step.ts";
import type { MachineState, StepScope } from "./types.ts";

/** Why a machine did not take in an actor that could land in it. */
export type MoveInCode = "context_failed" | "limit_exceeded" | "step_failed";

/** What begins with the states that a move brings, as nothing does that was entered before. */
interface Beginning {
  timers: readonly AfterKey[];
  invokes: readonly Invoke[];
}

export type MovedIn =
  | (Step & {
      /** The timers that were asked for, with what their delays are in the new context. */
      started: (AfterKey & { delayMs: number })[];
    })
  | { ok: false; code: MoveInCode; fault: Fault };

/**
 * Lets an actor of another version live on here, in a state value and history that landed: its context is mapped,
 * the delays of `timers` are read, the activities of `invokes` begin, then eventless transitions that are enabled are
 * taken. Nothing is entered again, and no timer is among the commands but those of these transitions: they come after
 * `started`. One budget for all of it.
 */
export function moveIn(
  to: CompiledMachine,
  { value, history }: Pick<MachineState, "value" | "history">,
  contextMapping: JsonObject,
  oldContext: JsonObject,
  scope: StepScope,
  { timers, invokes }: Beginning = { timers: [], invokes: [] },
): MovedIn {
  let mapped = false;
  let started: (AfterKey & { delayMs: number })[] = [];
  const evaluation = new Evaluation(scope);
  const outcome = run(to, evaluation, null, () => {
    const context = compileContextMapping(contextMapping)(oldContext);
    mapped = true;
    const live = restore(to, { status: "active", value, context, history });
    started = timers.map((key) => ({ ...key, delayMs: delayOf(to, live, key.delay) }));
    evaluation.before.push(...startsOf(invokes, live));
    return transition(to, live, INIT);
  });
  if (outcome.ok) return { ...outcome, started };
  const { fault } = outcome;
  if (fault.code === "limit_exceeded") return { ok: false, code: fault.code, fault };
  return { ok: false, code: mapped ? "step_failed" : "context_failed", fault };
}
