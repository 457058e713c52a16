import { LIMITS } from "../base/limits.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Executable, SelectedTransition } from "./engine-types.ts";
import { pathOf } from "./engine-types.ts";
import { ExpressionError } from "./expression.ts";
import type { Expression } from "./expression.ts";
import type { Command, Decisions, StepScope } from "./types.ts";

/** A failure inside a step that is the definition's or the data's, not ours. */
export interface Fault {
  code: "expression_failed" | "limit_exceeded";
  message: string;
  pointer?: string;
  /** Which limit, by its name in LIMITS. */
  limit?: keyof typeof LIMITS;
}

/**
 * One step under way. Compiled machines are shared by all actors of an isolate and XState calls our
 * closures with context and event only, so what else they need (who, when, where to note decisions)
 * stands here while `during` runs. Steps are synchronous: there is never more than one.
 */
export class Evaluation {
  readonly scope: StepScope;
  readonly input: JsonValue | undefined;
  readonly overlay: JsonObject | undefined;
  readonly decisions: Decisions = { transitions: [], guards: [], logs: [] };
  /** What is to be done before anything that XState wants executed. */
  readonly before: Command[] = [];
  /** What XState wants executed, in order. */
  readonly executables: Executable[] = [];
  /** The first thing that failed: XState wraps and re-words what our closures throw. */
  fault: Fault | null = null;
  /** The transitions selected for the event itself, before eventless and raised ones; null until then. */
  selected: readonly SelectedTransition[] | null = null;
  /** Whether a guard refused in that selection. */
  refusedByGuard = false;
  #guardWasFalse = false;
  #spawned = 0;
  #stepsLeft: number = LIMITS.stepBudget;

  constructor(scope: StepScope, input?: JsonValue, overlay?: JsonObject) {
    this.scope = scope;
    this.input = input;
    this.overlay = overlay;
  }

  /** Counts work, so that what a definition makes a thread do is bounded whatever it is made of. */
  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) this.#spent("stepBudget", "One step of the machine");
    if (allowance === null) return;
    allowance.left -= steps;
    if (allowance.left < 0) this.#spent("scenarioBudget", "The call");
  }

  #spent(limit: "stepBudget" | "scenarioBudget", what: string): never {
    this.fail({
      code: "limit_exceeded",
      limit,
      message: `${what} takes more work than the limit ${limit} of ${LIMITS[limit]} steps allows.`,
    });
  }

  /** The id of an activity that was spawned without one: unique within the actor. */
  nextSpawnId(): string {
    return `spawned.${this.scope.seq}.${this.#spawned++}`;
  }

  note<Kind extends "transitions" | "guards" | "logs">(
    kind: Kind,
    entry: Decisions[Kind][number],
  ): void {
    const list: unknown[] = this.decisions[kind];
    if (list.length < LIMITS.decisionsPerRecord) list.push(entry);
    else this.decisions.omitted = (this.decisions.omitted ?? 0) + 1;
  }

  noteGuard(guard: string, result: boolean): void {
    this.spend(GUARD_STEPS);
    this.note("guards", { guard, result });
    if (!result) this.#guardWasFalse = true;
  }

  noteExecutable(action: Executable): void {
    this.spend(ACTION_STEPS);
    this.executables.push(action);
  }

  /** `active` is how many states are active, ancestors included. */
  noteMicrostep(transitions: readonly SelectedTransition[], active: number): void {
    // XState compares transitions pair by pair, and walks the active states for each pair and each target.
    const targets = transitions.reduce((sum, { target }) => sum + (target?.length ?? 0), 0);
    this.spend(active * (1 + targets + transitions.length ** 2 / 4));
    if (this.selected === null) {
      this.selected = transitions;
      this.refusedByGuard = this.#guardWasFalse;
    }
    for (const { source, eventType, target } of transitions) {
      this.note("transitions", {
        source: pathOf(source),
        on: eventType,
        targets: (target ?? []).map(pathOf),
      });
    }
  }

  fail(fault: Fault): never {
    this.fault ??= fault;
    throw new Error(fault.message);
  }

  evaluate(
    expression: Expression,
    pointer: string,
    context: JsonObject,
    event: unknown,
  ): JsonValue {
    const meter = { steps: EXPRESSION_STEPS };
    try {
      const value = expression.evaluate({
        meter,
        context,
        event,
        input: this.input ?? null,
        params: null,
        self: {
          id: this.scope.id,
          definitionId: this.scope.definitionId,
          seq: this.scope.seq,
        },
        now: this.scope.now,
        uid: this.scope.uid,
        pointer,
      });
      this.spend(meter.steps);
      return value;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return this.fail({ code: "expression_failed", message: error.message, pointer });
    }
  }
}

/** steps; what there is to do beside what is counted one by one, from measurements. */
const EXPRESSION_STEPS = 10;
const GUARD_STEPS = 10;
const ACTION_STEPS = 20;

let current: Evaluation | null = null;
let allowance: { left: number } | null = null;

/** All steps that `run` makes share `steps` beside the budget that each has of its own. */
export function withAllowance<T>(steps: number, run: () => T): T {
  const outer = allowance;
  allowance = { left: steps };
  try {
    return run();
  } finally {
    allowance = outer;
  }
}

export function during<T>(evaluation: Evaluation, run: () => T): T {
  const outer = current;
  current = evaluation;
  try {
    return run();
  } finally {
    current = outer;
  }
}

/** The step under way; outside of one (XState evaluates a machine's start when an actor is built) there is nothing to evaluate with. */
export function evaluation(): Evaluation {
  if (current === null) throw new Error("An expression was evaluated outside of a step.");
  return current;
}

/**
 * A context inside XState. Its private field hides the data from XState's own walks over contexts,
 * which would replace look-alikes of actor references and lose keys such as `__proto__`.
 */
export class Data {
  readonly #value: JsonObject;

  constructor(value: JsonObject) {
    this.#value = value;
  }

  get value(): JsonObject {
    return this.#value;
  }
}

export function dataOf(context: unknown): JsonObject {
  const data = (context as { data?: unknown }).data;
  return data instanceof Data ? data.value : {};
}

export function requireObject(value: JsonValue, pointer: string): JsonObject {
  if (isJsonObject(value)) return value;
  return evaluation().fail({
    code: "expression_failed",
    message: "The context must be an object.",
    pointer,
  });
}
