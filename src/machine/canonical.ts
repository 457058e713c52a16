import type { JsonObject, JsonValue } from "../base/json.ts";

/**
 * A definition's one text: keys in code-unit order, but states as they were written. Their order is meaning:
 * it decides whose actions run first when several regions react to one event.
 */
export function canonicalDefinition(definition: JsonObject): string {
  return textOf(definition, false);
}

function textOf(value: JsonValue, ordered: boolean): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((member) => textOf(member, false)).join(",")}]`;
  const keys = Object.keys(value);
  const members = (ordered ? keys : keys.sort()).map(
    (key) =>
      `${JSON.stringify(key)}:${textOf((value as JsonObject)[key] ?? null, key === "states")}`,
  );
  return `{${members.join(",")}}`;
}
