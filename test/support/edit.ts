import type { JsonObject, JsonValue } from "../../src/base/json.ts";

/** A copy with members set by their JSON pointers; undefined removes one. Objects on the way are made. */
export function edited(
  object: JsonObject,
  changes: { readonly [pointer: string]: JsonValue | undefined },
): JsonObject {
  let copy: JsonValue = object;
  for (const [pointer, value] of Object.entries(changes)) {
    const steps = pointer.split("/").slice(1);
    copy = put(
      copy,
      steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")),
      value,
    );
  }
  return copy as JsonObject;
}

function put(
  parent: JsonValue | undefined,
  [step, ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonValue {
  if (step === undefined) return value ?? null;
  const members = new Map(Object.entries(parent ?? {}));
  if (rest.length > 0) members.set(step, put(members.get(step), rest, value));
  else if (value === undefined) members.delete(step);
  else members.set(step, value);
  return Array.isArray(parent) ? [...members.values()] : Object.fromEntries(members);
}
