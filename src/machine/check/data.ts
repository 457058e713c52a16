import { RESERVED_DATA_KEY, canonicalJson } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import type { ErrorCode } from "./codes.ts";
import type { Errors } from "./problems.ts";

/** values; more than this cannot be JSON within the limit of bytes. */
const MOST_VALUES = LIMITS.definitionBytes;

const BYTES = `the limit definitionBytes is ${LIMITS.definitionBytes}`;
const TOO_DEEP = `Arrays and objects may be nested ${LIMITS.jsonDepth} levels deep (limit jsonDepth).`;

class Unreadable extends Error {}

/**
 * Copies what was given into plain JSON data, so that whatever follows reads nothing but that.
 * Null when it cannot be looked at any further: not JSON, too deep, too large.
 */
export function readData(definition: unknown, errors: Errors): JsonValue | null {
  const reader = new Reader(errors);
  let data: JsonValue;
  try {
    data = reader.read(definition);
  } catch (error) {
    // Only objects that are not JSON can throw by themselves: getters, proxies.
    if (!(error instanceof Unreadable)) {
      errors.add("", "not_json", "The definition must be plain JSON; reading it failed.");
    }
    return null;
  }
  const bytes = new TextEncoder().encode(canonicalJson(data)).byteLength;
  if (bytes <= LIMITS.definitionBytes) return data;
  errors.add("", "too_large", `The definition has ${bytes} bytes of JSON; ${BYTES}.`);
  return null;
}

class Reader {
  readonly #errors: Errors;
  /** The way from the root to what is read now: a pointer is made only where there is a problem. */
  readonly #way: (string | number)[] = [];
  #values = 0;

  constructor(errors: Errors) {
    this.#errors = errors;
  }

  read(value: unknown): JsonValue {
    this.#values += 1;
    if (this.#values > MOST_VALUES) {
      this.#way.length = 0;
      this.#refuse("too_large", `The definition has more than ${MOST_VALUES} values; ${BYTES}.`);
    }
    switch (typeof value) {
      case "string":
        this.#checkText(value);
        return value;
      case "boolean":
        return value;
      case "number":
        if (Number.isFinite(value)) return value;
        return this.#refuse("not_json", `JSON has no ${value}.`);
      case "object":
        if (value === null) return null;
        if (this.#way.length >= LIMITS.jsonDepth) this.#refuse("too_deep", TOO_DEEP);
        return Array.isArray(value) ? this.#readArray(value) : this.#readObject(value);
      default:
        return this.#refuse("not_json", `JSON has no ${typeof value}; leave the key out.`);
    }
  }

  #readArray(value: readonly unknown[]): JsonValue {
    return Array.from(value, (item, index) => this.#readMember(item, index));
  }

  #readObject(value: object): JsonValue {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      this.#refuse("not_json", "JSON has plain objects only.");
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.#readMember(member, key)]),
    );
  }

  #readMember(member: unknown, key: string | number): JsonValue {
    this.#way.push(key);
    if (typeof key === "string") this.#checkKey(key);
    const data = this.read(member);
    this.#way.pop();
    return data;
  }

  #checkKey(key: string): void {
    if (key === RESERVED_DATA_KEY) {
      this.#add(
        "reserved_key",
        `XState replaces objects with the key '${RESERVED_DATA_KEY}'; choose another key.`,
      );
    }
    this.#checkText(key);
  }

  #checkText(text: string): void {
    if (text.isWellFormed()) return;
    this.#add(
      "lone_surrogate",
      "The text holds half of a surrogate pair, which UTF-8 cannot carry; write the whole character.",
    );
  }

  #add(code: ErrorCode, message: string): void {
    this.#errors.add(() => this.#way.reduce(at, ""), code, message);
  }

  #refuse(code: ErrorCode, message: string): never {
    this.#add(code, message);
    throw new Unreadable(message);
  }
}
