import { RESERVED_DATA_KEY, canonicalJson } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../template.ts";
import type { Problems } from "./problems.ts";

/** values; more than this cannot be JSON within the limit of bytes. */
const MOST_VALUES = LIMITS.definitionBytes;

class Unreadable extends Error {}

/**
 * Copies what was given into plain JSON data, so that whatever follows reads nothing but that.
 * Null when it cannot be looked at any further: not JSON, too deep, too large.
 */
export function readData(definition: unknown, errors: Problems): JsonValue | null {
  const reader = new Reader(errors);
  let data: JsonValue;
  try {
    data = reader.read(definition, "", 1);
  } catch (error) {
    // Only objects that are not JSON can throw by themselves: getters, proxies.
    if (!(error instanceof Unreadable)) {
      errors.add("", "not_json", "The definition must be plain JSON; reading it failed.");
    }
    return null;
  }
  const bytes = new TextEncoder().encode(canonicalJson(data)).byteLength;
  if (bytes <= LIMITS.definitionBytes) return data;
  errors.add(
    "",
    "too_large",
    `The definition has ${bytes} bytes of JSON; the limit definitionBytes is ${LIMITS.definitionBytes}.`,
  );
  return null;
}

class Reader {
  readonly #errors: Problems;
  #values = 0;

  constructor(errors: Problems) {
    this.#errors = errors;
  }

  read(value: unknown, pointer: string, depth: number): JsonValue {
    this.#values += 1;
    if (this.#values > MOST_VALUES) {
      return this.#refuse(
        "",
        "too_large",
        `The definition has more than ${MOST_VALUES} values; the limit definitionBytes is ${LIMITS.definitionBytes}.`,
      );
    }
    switch (typeof value) {
      case "string":
        this.#text(value, pointer);
        return value;
      case "boolean":
        return value;
      case "number":
        if (Number.isFinite(value)) return value;
        return this.#refuse(pointer, "not_json", `JSON has no ${value}.`);
      case "object":
        return value === null ? null : this.#readObject(value, pointer, depth);
      default:
        return this.#refuse(pointer, "not_json", `JSON has no ${typeof value}; leave the key out.`);
    }
  }

  #readObject(value: object, pointer: string, depth: number): JsonValue {
    if (depth > LIMITS.jsonDepth) {
      return this.#refuse(
        pointer,
        "too_deep",
        `Arrays and objects may be nested ${LIMITS.jsonDepth} levels deep (limit jsonDepth).`,
      );
    }
    if (Array.isArray(value)) {
      return Array.from(value, (item, index) => this.read(item, at(pointer, index), depth + 1));
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      return this.#refuse(pointer, "not_json", "JSON has plain objects only.");
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const place = at(pointer, key);
        this.#key(key, place);
        return [key, this.read(member, place, depth + 1)];
      }),
    );
  }

  #key(key: string, pointer: string): void {
    if (key === RESERVED_DATA_KEY) {
      this.#errors.add(
        pointer,
        "reserved_key",
        `XState replaces objects with the key '${RESERVED_DATA_KEY}'; choose another key.`,
      );
    }
    this.#text(key, pointer);
  }

  #text(text: string, pointer: string): void {
    if (text.isWellFormed()) return;
    this.#errors.add(
      pointer,
      "lone_surrogate",
      "The text holds half of a surrogate pair, which UTF-8 cannot carry; write the whole character.",
    );
  }

  #refuse(pointer: string, code: string, message: string): never {
    this.#errors.add(pointer, code, message);
    throw new Unreadable(message);
  }
}
