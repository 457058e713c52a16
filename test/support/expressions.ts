import { compileExpression, ExpressionError } from "../../src/machine/expression.ts";
import type { Expression, ExpressionScope, JsonValue } from "../../src/machine/expression.ts";

/** A scope with this context; what else matters to a test is given. */
export function scopeWith(context: unknown, more: Partial<ExpressionScope> = {}): ExpressionScope {
  return {
    context,
    event: { type: "GO" },
    input: undefined,
    params: undefined,
    self: { id: "a-1", definitionId: "loan-v1", seq: 3 },
    now: 1_893_456_000_123,
    uid: "0123456789abcdef0123456789abcdef",
    pointer: "/states/a/entry/0",
    ...more,
  };
}

export function compiled(source: string): Expression {
  const result = compileExpression(source);
  if (!result.ok) throw new Error(`${source}: ${result.message}`);
  return result.expression;
}

export function evaluate(
  source: string,
  context: unknown = {},
  more: Partial<ExpressionScope> = {},
): JsonValue {
  return compiled(source).evaluate(scopeWith(context, more));
}

/** Why it does not compile. */
export function refusal(source: string): string {
  const result = compileExpression(source);
  if (result.ok) throw new Error(`${source} compiles.`);
  return result.message;
}

/** Why it has no value. */
export function failure(
  source: string,
  context: unknown = {},
  more: Partial<ExpressionScope> = {},
): string {
  const expression = compiled(source);
  let value: JsonValue;
  try {
    value = expression.evaluate(scopeWith(context, more));
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  throw new Error(`${source} gives ${JSON.stringify(value)}.`);
}
