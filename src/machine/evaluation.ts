import { LIMITS } from "../base/limits.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Executable, SelectedTransition } from "./engine-types.ts";
import { pathOf } from "./engine-types.ts";
import { ExpressionError } from "./expression.ts";
import type { Expression } from "./expression.ts";
import type { Decisions, StepScope } from "./types.ts";

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
  /** What XState wants executed, in order. */
  readonly executables: Executable[] = [];
  /** The first thing that failed: XState wraps and re-words what our closures throw. */
  fault: Fault | null = null;
  /** The transitions selected for the event itself, before eventless and raised ones; null until then. */
  selected: readonly SelectedTransition[] | null = null;
  /** Whether a guard refused in that selection. */
  refusedByGuard = false;
  #guardWasFalse = false;

  constructor(scope: StepScope, input?: JsonValue, overlay?: JsonObject) {
    this.scope = scope;
    this.input = input;
    this.overlay = overlay;
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
    this.note("guards", { guard, result });
    if (!result) this.#guardWasFalse = true;
  }

  noteMicrostep(transitions: readonly SelectedTransition[]): void {
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
    try {
      return expression.evaluate({
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
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return this.fail({ code: "expression_failed", message: error.message, pointer });
    }
  }
}

let current: Evaluation | null = null;

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
