import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { at } from "../base/pointer.ts";

/** What is wrong with a part of an activity's input; the message is a sentence that says what to write. */
interface InputFault {
  pointer: string;
  message: string;
}

/** What an activity's input says once it is whole, or the first thing wrong with it. */
export type Parsed<T> = { ok: true; value: T } | ({ ok: false } & InputFault);

/** Looks at one value; what is wrong with it is added to the reader's faults. */
export type Shape = (value: JsonValue, pointer: string, reader: Reader) => void;

interface Reader {
  faults: InputFault[];
  /** A value that is known only when the activity starts, so nothing can be said about it now. */
  isOpen(value: JsonValue): boolean;
}

interface Members {
  required: Record<string, Shape>;
  optional: Record<string, Shape>;
}

/** All that is wrong with an input; with `isOpen`, as far as can be told before it is evaluated. */
export function faultsOf(
  shape: Shape,
  input: JsonValue,
  isOpen: (value: JsonValue) => boolean = () => false,
): InputFault[] {
  const reader: Reader = { faults: [], isOpen };
  look(shape, input, "", reader);
  return reader.faults;
}

/** Checks an input as it was evaluated, and makes of it what its source works with. */
export function parse<T>(
  shape: Shape,
  input: JsonValue,
  build: (input: JsonObject) => T,
): Parsed<T> {
  const [fault] = faultsOf(shape, input);
  return fault === undefined
    ? { ok: true, value: build(input as JsonObject) }
    : { ok: false, ...fault };
}

function look(shape: Shape, value: JsonValue, pointer: string, reader: Reader): void {
  if (!reader.isOpen(value)) shape(value, pointer, reader);
}

/** An object of these members and no others; `rule` looks at them together. */
export function object(members: Members, what: string, rule?: Shape): Shape {
  const known: Record<string, Shape> = { ...members.required, ...members.optional };
  const keys = Object.keys(known);
  return (value, pointer, reader) => {
    if (!isJsonObject(value)) {
      return fault(reader, pointer, `${what} is an object with ${words(keys)}.`);
    }
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(known, key)) continue;
      fault(reader, at(pointer, key), `${what} has no such key: it has ${words(keys)}.`);
    }
    for (const key of Object.keys(members.required)) {
      if (!Object.hasOwn(value, key)) fault(reader, pointer, `${what} needs \`${key}\`.`);
    }
    for (const [key, shape] of Object.entries(known)) {
      if (Object.hasOwn(value, key)) {
        look(shape, value[key] as JsonValue, at(pointer, key), reader);
      }
    }
    rule?.(value, pointer, reader);
  };
}

export function list(item: Shape, most: number): Shape {
  return (value, pointer, reader) => {
    if (!Array.isArray(value) || value.length > most) {
      return fault(reader, pointer, `This is a list of at most ${most} entries.`);
    }
    value.forEach((member: JsonValue, index) => look(item, member, at(pointer, index), reader));
  };
}

/** Values by names of the caller's own. */
export function map(name: Shape, item: Shape, most: number): Shape {
  return (value, pointer, reader) => {
    if (!isJsonObject(value) || Object.keys(value).length > most) {
      return fault(reader, pointer, `This is an object of at most ${most} members.`);
    }
    for (const [key, member] of Object.entries(value)) {
      name(key, at(pointer, key), reader);
      look(item, member, at(pointer, key), reader);
    }
  };
}

export function text(most: number, least = 1): Shape {
  return satisfies(
    (value) => typeof value === "string" && value.length >= least && value.length <= most,
    `This is a string of ${least} to ${most} characters.`,
  );
}

export function whole(least: number, most: number, unit = ""): Shape {
  return satisfies(
    (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
    `This is a whole number${unit === "" ? "" : ` of ${unit}`} from ${least} to ${most}.`,
  );
}

export const ms: Shape = whole(0, LIMITS.delayMs, "ms");

export const flag: Shape = satisfies(
  (value) => typeof value === "boolean",
  "This is true or false.",
);

export function oneOf(...values: readonly string[]): Shape {
  return satisfies(
    (value) => typeof value === "string" && values.includes(value),
    `This is one of ${values.map((value) => `"${value}"`).join(", ")}.`,
  );
}

export const anything: Shape = () => {};

export function satisfies(test: (value: JsonValue) => boolean, message: string): Shape {
  return (value, pointer, reader) => {
    if (!test(value)) fault(reader, pointer, message);
  };
}

function fault(reader: Reader, pointer: string, message: string): void {
  reader.faults.push({ pointer, message });
}

function words(keys: readonly string[]): string {
  return keys.map((key) => `\`${key}\``).join(", ");
}
