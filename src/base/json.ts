/** What JSON can hold. Everything that Perdure stores or answers is made of this. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * JSON with object keys in code-unit order and no white space: two values are the same data
 * exactly when their canonical texts are equal.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as JsonObject;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(",")}}`;
}

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8, when they may be more than `limit`; else a number that is not over it. */
export function bytesOver(limit: number, text: string): number {
  // No UTF-16 unit takes more than three bytes, so most texts need not be counted.
  return text.length * 3 <= limit ? text.length : encoder.encode(text).byteLength;
}

/** Freezes a value and everything in it, and returns it. A value that is already frozen is trusted to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** XState replaces objects with this key inside a context by an actor of that id, so no data may carry it. */
export const RESERVED_DATA_KEY = "xstate$$type";

export type DataFault = "depth" | "reserved_key" | "surrogate" | "number";

/**
 * Why parsed JSON cannot be kept as data, or null. `number`: JSON like `1e999` parses to Infinity, which JSON
 * cannot say. Walks without recursion, so hostile depth is safe.
 */
export function dataFault(
  value: unknown,
  maxDepth: number,
  reservedKey: string | null = RESERVED_DATA_KEY,
): DataFault | null {
  const pending: { value: unknown; depth: number }[] = [{ value, depth: 1 }];
  for (let item = pending.pop(); item; item = pending.pop()) {
    const { value: current, depth } = item;
    if (typeof current === "string" && !current.isWellFormed()) return "surrogate";
    if (typeof current === "number" && !Number.isFinite(current)) return "number";
    if (typeof current !== "object" || current === null) continue;
    if (depth > maxDepth) return "depth";
    if (Array.isArray(current)) {
      for (const member of current) pending.push({ value: member, depth: depth + 1 });
      continue;
    }
    for (const [key, member] of Object.entries(current)) {
      if (key === reservedKey) return "reserved_key";
      if (!key.isWellFormed()) return "surrogate";
      pending.push({ value: member, depth: depth + 1 });
    }
  }
  return null;
}
