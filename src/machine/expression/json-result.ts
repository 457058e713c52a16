import { LIMITS } from "../../base/limits.ts";
import { RESERVED_DATA_KEY } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { Fault } from "./run.ts";
import type { Run } from "./run.ts";
import { durationMs, isoText } from "./time.ts";
import { Duration, isList, isMap, nounFor, Timestamp } from "./values.ts";

/** The result of an expression as plain JSON, a copy of its own; each value in it costs a step. */
export function jsonResult(run: Run, value: unknown, depth = 0): JsonValue {
  run.spend(1);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return textResult(run, value);
  if (typeof value === "number") return numberResult(value);
  if (typeof value === "bigint") return integerResult(value);
  if (value instanceof Timestamp) return isoText(value.ms);
  if (value instanceof Duration) return numberResult(durationMs(value));
  if (depth >= LIMITS.jsonDepth) {
    throw new Fault(() => `The result is nested more than ${LIMITS.jsonDepth} levels deep`);
  }
  if (isList(value)) return value.map((item) => jsonResult(run, item, depth + 1));
  if (isMap(value)) return objectResult(run, value, depth + 1);
  throw new Fault(() => `The result has ${nounFor(value)} in it, which JSON cannot hold`);
}

function textResult(run: Run, text: string): string {
  run.spendOnText(text.length);
  if (!text.isWellFormed())
    throw new Fault(() => "The result has half of a surrogate pair in a text");
  return text;
}

function numberResult(value: number): number {
  if (!Number.isFinite(value))
    throw new Fault(() => "The result has a number that JSON cannot hold");
  // JSON would lose the sign of -0.
  return value === 0 ? 0 : value;
}

function integerResult(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new Fault(() => "The result has an integer beyond 2^53, which JSON cannot hold exactly");
  }
  return number;
}

function objectResult(run: Run, map: Readonly<Record<string, unknown>>, depth: number): JsonValue {
  const made: Record<string, JsonValue> = {};
  for (const key of Object.keys(map)) {
    const member = map[key];
    if (member === undefined) continue;
    if (key === RESERVED_DATA_KEY) {
      throw new Fault(() => `The result has the key ${RESERVED_DATA_KEY}, which no data may have`);
    }
    textResult(run, key);
    const value = jsonResult(run, member, depth);
    if (key === "__proto__") define(made, key, value);
    else made[key] = value;
  }
  return made;
}

/** Assigning `__proto__` would set the prototype. */
function define(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  const shape = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, key, { value, ...shape });
}
