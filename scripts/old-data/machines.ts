import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";

/** 50 years: what is due then is not due whenever the archive is read. */
export const FAR_MS = 1_577_880_000_000;

/** An example of the checkout, whose delayed transitions come 50 years later. */
export async function example(checkout: string, folder: string, name: string): Promise<JsonObject> {
  const text = await readFile(join(checkout, "examples", folder, `${name}.json`), "utf8");
  return later(JSON.parse(text) as JsonObject) as JsonObject;
}

function later(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(later);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const put = later(member as JsonValue);
    if (name !== "after") return [name, put];
    const after = Object.entries(put as JsonObject);
    return [name, Object.fromEntries(after.map(([ms, way]) => [Number(ms) + FAR_MS, way]))];
  });
  return Object.fromEntries(members) as JsonObject;
}

/** A few of many, from all over the list. */
export function inTheMiddle(ids: string[]): string[] {
  return Array.from({ length: 10 }, (_, n) => ids[Math.floor((n + 0.5) * (ids.length / 10))] ?? "");
}
