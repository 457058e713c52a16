/** ms since 1970, between the years 1 and 9999, as timestamp() makes it. */
export class Timestamp {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

/** Nanoseconds, as duration() makes it. */
export class Duration {
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** What type() gives: it can be compared and nothing else. */
export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What `.?field` and `[?key]` give; `undefined` stands for nothing. */
export class Optional {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

type JsonMap = Readonly<Record<string, unknown>>;

/** A number of JSON is a double; CEL's `int` and `uint`, literals and sizes, are both a bigint here. */
export function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Told by prototype alone: data may well have a key named `constructor`. */
export function isMap(value: unknown): value is JsonMap {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The member, or undefined: own ones only, so `toString` and `__proto__` are keys like any other. */
export function member(map: JsonMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** A whole number as a JavaScript number, whether CEL calls it an int or a double; else null. */
export function wholeNumber(value: unknown): number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** The CEL name of a value's type; "" for what is no value of ours. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (isList(value)) return "list";
  if (isMap(value)) return "map";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof TypeName) return "type";
  return value instanceof Optional ? "optional" : "";
}

const NOUNS: Record<string, string> = {
  null: "null",
  bool: "a boolean",
  int: "a number",
  double: "a number",
  string: "a string",
  list: "a list",
  map: "an object",
  "google.protobuf.Timestamp": "a timestamp",
  "google.protobuf.Duration": "a duration",
  type: "a type",
  optional: "an optional",
};

/** What a value is, for a sentence; never the value itself, which may be secret. */
export function nounFor(value: unknown): string {
  return NOUNS[typeName(value)] ?? "something that is not JSON";
}
