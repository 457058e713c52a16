import { LIMITS } from "../base/limits.ts";
import type { JsonValue } from "../base/json.ts";
import { boundedSentence, Refusal } from "./expression/faults.ts";
import { jsonResult } from "./expression/json-result.ts";
import { resultType, understand } from "./expression/language.ts";
import type { ResultType } from "./expression/language.ts";
import { compileProgram } from "./expression/program.ts";
import type { Program } from "./expression/program.ts";
import { BudgetSpent, Fault, Run } from "./expression/run.ts";
import type { ExpressionScope } from "./expression/run.ts";

export type { JsonValue, ExpressionScope, ResultType };

/** An expression has no value. The message is one sentence for whoever wrote it: it quotes the expression, never the data. */
export class ExpressionError extends Error {
  /** JSON pointer of the expression in its definition. */
  readonly pointer: string;
  readonly source: string;

  constructor(message: string, pointer: string, source: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExpressionError";
    this.pointer = pointer;
    this.source = source;
  }
}

/** Holds nothing of an evaluation, so that actors may share it. */
export interface Expression {
  readonly source: string;
  readonly usesNow: boolean;
  /** Whether it calls random() or uuid(). */
  readonly usesRandom: boolean;
  /** What its value is known to be before anything runs; "any" when that depends on data. */
  readonly type: ResultType;
  /** Same scope, same result: plain JSON of its own. Throws ExpressionError and nothing else. */
  evaluate(scope: ExpressionScope): JsonValue;
}

type CompiledExpression = { ok: true; expression: Expression } | { ok: false; message: string };

/** Parses, checks the types and compiles a CEL expression; a message says why it can never work. */
export function compileExpression(source: string): CompiledExpression {
  try {
    refuseUnreadable(source);
    const checked = understand(source);
    const program = compileProgram(checked);
    return { ok: true, expression: new CelExpression(source, program, resultType(checked)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, message: boundedSentence(sentenceOf(error)) };
  }
}

function sentenceOf({ message }: Refusal): string {
  return `The expression ${message}${message.endsWith("?") ? "" : "."}`;
}

function refuseUnreadable(source: string): void {
  if (typeof source !== "string") throw new Refusal("must be a string");
  if (source.trim() === "") throw new Refusal("is empty");
  if (source.length > LIMITS.expressionChars) {
    throw new Refusal(`is longer than ${LIMITS.expressionChars} characters`);
  }
  if (!source.isWellFormed()) throw new Refusal("has half of a surrogate pair in it");
}

class CelExpression implements Expression {
  readonly source: string;
  readonly type: ResultType;
  readonly #program: Program;

  constructor(source: string, program: Program, type: ResultType) {
    this.source = source;
    this.type = type;
    this.#program = program;
  }

  get usesNow(): boolean {
    return this.#program.usesNow;
  }

  get usesRandom(): boolean {
    return this.#program.usesRandom;
  }

  evaluate(scope: ExpressionScope): JsonValue {
    const run = new Run(scope);
    try {
      return jsonResult(run, this.#program.code(run));
    } catch (error) {
      throw expressionError(error, scope.pointer, this.source);
    } finally {
      if (scope.meter) scope.meter.steps += run.stepsSpent;
    }
  }
}

function expressionError(error: unknown, pointer: string, source: string): ExpressionError {
  if (error instanceof Fault) {
    return new ExpressionError(boundedSentence(`${error.sentence}.`), pointer, source);
  }
  if (error instanceof BudgetSpent) {
    const sentence = `The expression used more than its budget of ${LIMITS.expressionBudget} steps.`;
    return new ExpressionError(sentence, pointer, source);
  }
  const options = { cause: error };
  return new ExpressionError("The expression could not be evaluated.", pointer, source, options);
}
