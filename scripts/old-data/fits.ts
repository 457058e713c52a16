import type { JsonObject, JsonValue } from "../../src/base/json.ts";

/** Whether all members of `part` are in `whole`; lists must be as long. */
export function fits(whole: JsonValue | undefined, part: JsonValue): boolean {
  if (typeof part !== "object" || part === null) return whole === part;
  if (typeof whole !== "object" || whole === null) return false;
  if (Array.isArray(part) && (whole as JsonValue[]).length !== part.length) return false;
  return Object.entries(part).every(([name, value]) =>
    fits((whole as JsonObject)[name], value as JsonValue),
  );
}
