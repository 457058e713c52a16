import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { deepFreeze } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { commandsOf, nameOf } from "./commands.ts";
import { wholeMs } from "./compile-delays.ts";
import { delayName } from "./compile.ts";
import type { CompiledMachine, Invoke } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import { Evaluation, during } from "./evaluation.ts";
import type { Fault } from "./evaluation.ts";
import { contextOf, persist, restore } from "./live.ts";
import type { Live } from "./live.ts";
import { checkSizes } from "./sizes.ts";
import type {
  Command,
  Decisions,
  EventData,
  MachineState,
  NotHandled,
  StepScope,
} from "./types.ts";

export interface Step {
  ok: true;
  live: Live;
  /** The same, to be kept; null when nothing changed. */
  state: MachineState | null;
  /** In the order in which they are to be carried out. */
  commands: Command[];
  handled: boolean;
  reason: NotHandled | null;
  decisions: Decisions;
}
export type StepOutcome = Step | { ok: false; fault: Fault };

/** XState has states active that cannot be so together. To go on from what it says the value is would be a guess. */
const IMPOSSIBLE: Fault = {
  code: "expression_failed",
  message:
    "Two regions moved at once to states that cannot be active together: one left the other's state, which went to its own history.",
};

/** steps; what a step of the machine costs by itself, restoring included. */
const STEP_STEPS = 100;

/** The machine's start: initial context, entry actions, timers, eventless transitions. */
export function start(
  machine: CompiledMachine,
  scope: StepScope,
  input: JsonValue | undefined,
  overlay: JsonObject | undefined,
): StepOutcome {
  deepFreeze(overlay);
  return run(machine, new Evaluation(scope, input, overlay), null, () =>
    machine.xstate.getInitialSnapshot(machine.actorScope as never, input as never),
  );
}

/**
 * One event. It is handled exactly when a transition that was selected for it has a target or an
 * action; when it is not, the result is not applied: the snapshot that comes back is the one given.
 */
export function step(
  machine: CompiledMachine,
  live: Live,
  event: EventData,
  scope: StepScope,
): StepOutcome {
  // Named implementations are given the event itself, which is also what the log will keep.
  deepFreeze(event);
  const evaluation = new Evaluation(scope);
  const outcome = run(machine, evaluation, live, () => {
    const stepped = transition(machine, live, event) as { status: string };
    // XState ends a machine that has nothing to say to an activity's error; here that is an event that is not handled.
    const unheard = stepped.status === "error" && evaluation.selected?.length === 0;
    return unheard ? live : stepped;
  });
  if (!outcome.ok) return outcome;
  const selected = evaluation.selected ?? [];
  if (selected.some(({ target, actions }) => target !== undefined || actions.length > 0)) {
    return outcome;
  }
  const reason =
    selected.length > 0 ? "forbidden" : evaluation.refusedByGuard ? "guard_false" : "no_transition";
  return { ...outcome, live, state: null, commands: [], handled: false, reason };
}

/**
 * Lets a snapshot from elsewhere live on here: timers and activities of the states it stands in start now, then
 * eventless transitions that it has enabled are taken. Nothing is entered again.
 */
export function adopt(machine: CompiledMachine, live: Live, scope: StepScope): StepOutcome {
  const evaluation = new Evaluation(scope);
  return run(machine, evaluation, null, () => {
    evaluation.before.push(...activeTimers(machine, live));
    const invokes = live._nodes.flatMap((node) => machine.invokes.get(pathOf(node)) ?? []);
    evaluation.before.push(...startsOf(invokes, live));
    return transition(machine, live, INIT);
  });
}

/** XState selects nothing for its own init event and goes on to the eventless transitions. */
export const INIT: EventData = { type: "xstate.init" };

/** Starts of activities whose states were entered elsewhere; within an evaluation. */
export function startsOf(invokes: readonly Invoke[], live: Live): Command[] {
  const context = contextOf(live);
  return invokes.map(({ state, id, src, input }) => ({
    kind: "start_activity",
    state,
    id,
    src,
    input: input(context, INIT),
  }));
}

function activeTimers(machine: CompiledMachine, live: Live): Command[] {
  const commands: Command[] = [];
  for (const node of live._nodes) {
    const state = pathOf(node);
    for (const key of Object.keys(node.config.after ?? {})) {
      const delay = delayName(key);
      commands.push({ kind: "arm_after", state, delay, delayMs: delayOf(machine, live, delay) });
    }
  }
  return commands;
}

/** ms of a delay by its name in timers, within an evaluation. */
export function delayOf(machine: CompiledMachine, live: Live, delay: string): number {
  const named = machine.xstate.implementations.delays[delay] as
    | ((args: unknown) => number)
    | undefined;
  if (named === undefined) return wholeMs(Number(delay), "");
  return named({ context: live.context, event: INIT });
}

export function transition(machine: CompiledMachine, live: Live, event: EventData): unknown {
  return machine.xstate.transition(live, event, machine.actorScope as never);
}

/** Makes one step of what `go` gives, within the evaluation: limits, commands, decisions; never throws. */
export function run(
  machine: CompiledMachine,
  evaluation: Evaluation,
  before: Live | null,
  go: () => unknown,
): StepOutcome {
  try {
    return during(evaluation, () => {
      evaluation.spend(STEP_STEPS);
      const stepped = go() as Live & { error?: unknown };
      // A failing start does not throw in XState; it answers with an error snapshot.
      if (stepped.status === "error") throw stepped.error;
      const commands = [...evaluation.before, ...commandsOf(machine, evaluation)];
      for (const taken of evaluation.decisions.transitions) taken.on = nameOf(machine, taken.on);
      const state = persist(stepped);
      checkSizes(before, stepped, state, commands, evaluation);
      const { decisions } = evaluation;
      // What XState holds after a step can differ from what it holds after a restore (regions in another
      // order), and the next step with it. So we always go on from a restore.
      const live = restore(machine, state);
      if (live._nodes.length !== stepped._nodes.length) evaluation.fail(IMPOSSIBLE);
      return { ok: true, live, state, commands, handled: true, reason: null, decisions };
    });
  } catch (error) {
    return { ok: false, fault: evaluation.fault ?? faultOf(machine, error) };
  }
}

/** What XState or named code threw by itself: our expressions and limits have told the evaluation. */
function faultOf(machine: CompiledMachine, error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith("Infinite loop detected")) {
    return {
      code: "limit_exceeded",
      limit: "microsteps",
      message: `The machine did not come to rest within ${LIMITS.microsteps} microsteps (limit microsteps); look for always or raise in a circle.`,
    };
  }
  // A fault all the same, so that a timer is parked instead of being tried for ever; but nobody's expression.
  logError("error", error, { during: "step", family: machine.family });
  return { code: "expression_failed", message: message.slice(0, LIMITS.textChars) };
}
