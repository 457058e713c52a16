import { deepFreeze } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { isExpression } from "./dialect.ts";
import { evaluation } from "./evaluation.ts";
import { compileExpression } from "./expression.ts";

/** JSON with expressions in it, ready to be filled: the result is frozen. */
export type Template = (context: JsonObject, event: unknown) => JsonValue;

/** Definitions are checked before they are compiled; an expression that does not compile here was never deployed. */
export function compileTemplate(value: JsonValue, pointer: string): Template {
  if (isExpression(value)) {
    const compiled = compileExpression(value["@expr"]);
    if (!compiled.ok) throw new Error(`${pointer}: ${compiled.message}`);
    const { expression } = compiled;
    return (context, event) =>
      deepFreeze(evaluation().evaluate(expression, pointer, context, event));
  }
  if (!hasExpression(value)) {
    const constant = deepFreeze(structuredClone(value));
    return () => constant;
  }
  if (Array.isArray(value)) {
    const members = value.map((member, index) => compileTemplate(member, at(pointer, index)));
    return (context, event) => {
      evaluation().spend(members.length);
      return Object.freeze(members.map((member) => member(context, event)));
    };
  }
  const members = Object.entries(value as JsonObject).map(
    ([key, member]) => [key, compileTemplate(member, at(pointer, key))] as const,
  );
  return (context, event) => {
    evaluation().spend(members.length);
    // fromEntries defines members, so a key such as `__proto__` stays data.
    return Object.freeze(
      Object.fromEntries(members.map(([key, member]) => [key, member(context, event)])),
    );
  };
}

function hasExpression(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isExpression(value)) return true;
  return Object.values(value).some(hasExpression);
}
