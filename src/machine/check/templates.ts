import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { isExpression, own } from "../dialect.ts";
import { compileExpression } from "../expression.ts";
import type { Check, ExpressionFacts } from "./context.ts";
import { warnOfNearKey, warnOfText } from "./lookalikes.ts";
import { quoted } from "./problems.ts";
import { checkUse } from "./uses.ts";
import type { Use } from "./uses.ts";

/** Where an expression stands; in a guard of `always` there is neither clock nor chance. */
export type Place = "anywhere" | "always_guard";

/** JSON in which every object with the key `@expr` is an expression. */
export function checkTemplate(
  check: Check,
  value: JsonValue,
  pointer: string,
  place: Place = "anywhere",
): void {
  if (isExpression(value)) {
    checkExpression(check, value, pointer, place);
  } else if (Array.isArray(value)) {
    value.forEach((item: JsonValue, index) =>
      checkTemplate(check, item, at(pointer, index), place),
    );
  } else if (isJsonObject(value)) {
    if (Object.hasOwn(value, "@code")) {
      check.errors.add(
        at(pointer, "@code"),
        "invalid_expression",
        'Code cannot be run from a definition; write an expression: {"@expr": "context.n + 1"}.',
      );
      return;
    }
    warnOfNearKey(check, value, pointer);
    for (const [key, member] of Object.entries(value)) {
      checkTemplate(check, member, at(pointer, key), place);
    }
  } else warnOfLiteral(check, value, pointer);
}

/** A text that would be an expression if only it were marked as one. */
export function warnOfLiteral(check: Check, value: JsonValue, pointer: string): void {
  warnOfText(check, value, pointer, (source) => expressionFacts(check, source).ok);
}

export function checkExpression(
  check: Check,
  expression: JsonObject,
  pointer: string,
  place: Place = "anywhere",
  use: Use = "value",
): void {
  const { errors } = check;
  for (const key of Object.keys(expression)) {
    if (key === "@expr" || key === "@lang") continue;
    errors.add(
      at(pointer, key),
      "unknown_key",
      () => `An expression stands alone: {"@expr": "…"}, without the key ${quoted(key)}.`,
    );
  }
  const language = own(expression, "@lang");
  if (language !== undefined && language !== "cel") {
    errors.add(
      at(pointer, "@lang"),
      "invalid_expression",
      'The only language is "cel"; leave `@lang` out.',
    );
    return;
  }
  const source = own(expression, "@expr");
  const text = at(pointer, "@expr");
  if (typeof source !== "string") {
    errors.add(text, "invalid_expression", "An expression is a string in CEL.");
    return;
  }
  const facts = expressionFacts(check, source);
  if (!facts.ok) {
    errors.add(text, "invalid_expression", facts.message);
    return;
  }
  checkUse(check, source, facts.type, use, text);
  if (place === "always_guard" && (facts.usesNow || facts.usesRandom)) {
    errors.add(
      text,
      "clock_in_always",
      "A guard of `always` cannot use now, random() or uuid(): it is asked at moments that nobody sees. Use `after`, or assign the value first.",
    );
  }
}

function expressionFacts(check: Check, source: string): ExpressionFacts {
  const known = check.expressions.get(source);
  if (known !== undefined) return known;
  const compiled = compileExpression(source);
  const facts: ExpressionFacts = compiled.ok
    ? {
        ok: true,
        usesNow: compiled.expression.usesNow,
        usesRandom: compiled.expression.usesRandom,
        type: compiled.expression.type,
      }
    : compiled;
  check.expressions.set(source, facts);
  return facts;
}

/** Data that is taken as it is: an expression in it would never be evaluated. */
export function refuseExpressions(
  check: Check,
  value: JsonValue,
  pointer: string,
  what: string,
): void {
  if (isExpression(value)) {
    check.errors.add(
      pointer,
      "expression_not_allowed",
      `${what} is plain data, without expressions.`,
    );
  } else if (Array.isArray(value)) {
    value.forEach((item: JsonValue, index) =>
      refuseExpressions(check, item, at(pointer, index), what),
    );
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      refuseExpressions(check, member, at(pointer, key), what);
    }
  }
}
