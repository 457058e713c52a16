import { fault, Refusal, shorten } from "./faults.ts";
import { integer } from "./operators.ts";
import { random, uuid } from "./randomness.ts";
import { TEXT_METHODS, textLength } from "./text.ts";
import type { Implementation } from "./text.ts";
import * as time from "./time.ts";
import { Duration, isList, isMap, isNumeric, Optional, Timestamp } from "./values.ts";
import { typeName, TypeName } from "./values.ts";

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
const WHOLE = /^[+-]?\d{1,19}$/;
const NUMBER_CHARS = 400;
const STEPS_PER_DATE = 8;
const STEPS_PER_RANDOM = 4;
const STEPS_PER_UUID = 20;
const TRUTHS = new Map([
  ["1", true],
  ["t", true],
  ["true", true],
  ["TRUE", true],
  ["True", true],
  ["0", false],
  ["f", false],
  ["false", false],
  ["FALSE", false],
  ["False", false],
]);

const size: Implementation = (run, _node, [value]) => {
  if (typeof value === "string") return textLength(run, value);
  if (isList(value)) return BigInt(value.length);
  if (!isMap(value)) return undefined;
  const keys = Object.keys(value).length;
  run.spend(keys);
  return BigInt(keys);
};

const int: Implementation = (_run, node, [value]) => {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw fault(node, "is too large for an integer");
    return integer(node, BigInt(Math.trunc(value)));
  }
  if (value instanceof Timestamp) return BigInt(Math.floor(value.ms / 1000));
  if (typeof value !== "string") return undefined;
  if (!WHOLE.test(value)) throw fault(node, "does not find a whole number in the text");
  return integer(node, BigInt(value.replace("+", "")));
};

const uint: Implementation = (run, node, args) => {
  const value = args[0] instanceof Timestamp ? undefined : int(run, node, args);
  if (typeof value === "bigint" && value < 0n) throw fault(node, "would be negative");
  return value;
};

const double: Implementation = (_run, node, [value]) => {
  if (isNumeric(value)) return Number(value);
  if (typeof value !== "string") return undefined;
  const number =
    value.length <= NUMBER_CHARS && DECIMAL.test(value) ? Number(value) : Number.POSITIVE_INFINITY;
  if (!Number.isFinite(number)) throw fault(node, "does not find a number in the text");
  return number;
};

const string: Implementation = (_run, _node, [value]) => {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || isNumeric(value)) return `${value}`;
  if (value instanceof Timestamp) return time.isoText(value.ms);
  if (value instanceof Duration) return `${time.durationMs(value) / 1000}s`;
  return undefined;
};

const bool: Implementation = (_run, node, [value]) => {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  const truth = TRUTHS.get(value);
  if (truth === undefined) throw fault(node, 'does not find "true" or "false" in the text');
  return truth;
};

const timestamp: Implementation = (run, node, [value]) => {
  run.spend(STEPS_PER_DATE);
  if (typeof value === "string") return time.parseTimestamp(node, value);
  if (!isNumeric(value)) return undefined;
  const hint = "; timestamp() counts in seconds, `now` in ms";
  return time.instant(node, Math.round(Number(value) * 1000), hint);
};

const duration: Implementation = (run, node, [value]) => {
  if (typeof value !== "string") return undefined;
  run.spend(Math.min(value.length, time.DURATION_CHARS));
  return time.parseDuration(node, value);
};

/** Functions that stand alone, `size(x)`. */
export const FUNCTIONS = new Map<string, Implementation>(
  Object.entries({
    bool,
    double,
    duration,
    dyn: (_run, _node, [value]) => value,
    int,
    random: (run) => {
      run.spend(STEPS_PER_RANDOM);
      return random(run);
    },
    size,
    string,
    timestamp,
    type: (_run, _node, [value]) => new TypeName(typeName(value)),
    uint,
    uuid: (run) => {
      run.spend(STEPS_PER_UUID);
      return uuid(run);
    },
  } satisfies Record<string, Implementation>),
);

const timePart =
  (name: string): Implementation =>
  (run, _node, [value]) => {
    run.spend(STEPS_PER_DATE);
    const part = time.TIMESTAMP_PARTS[name];
    if (value instanceof Timestamp && part) return BigInt(part(new Date(value.ms)));
    const unit = time.DURATION_UNITS[name];
    return value instanceof Duration && unit ? value.ns / unit : undefined;
  };

/** Functions of a receiver, `x.size()`; the receiver is their first argument. */
export const METHODS = new Map<string, Implementation>([
  ["size", size],
  ...Object.entries(TEXT_METHODS),
  ...Object.keys(time.TIMESTAMP_PARTS).map((name) => [name, timePart(name)] as const),
  ["hasValue", (_run, _node, [value]) => value instanceof Optional && value.value !== undefined],
  [
    "value",
    (_run, node, [value]) => {
      if (!(value instanceof Optional)) return undefined;
      if (value.value === undefined) throw fault(node, "has no value; use orValue() for a default");
      return value.value;
    },
  ],
]);

const WHY_NOT: Record<string, string> = {
  matches:
    "matches(), whose patterns can run for minutes; use contains(), startsWith(), endsWith() or split()",
  bytes: "bytes(), and JSON has no bytes",
};

/** What other languages call it. */
const INSTEAD: Record<string, string> = {
  toUpperCase: "did you mean upperAscii()?",
  upper: "did you mean upperAscii()?",
  toLowerCase: "did you mean lowerAscii()?",
  lower: "did you mean lowerAscii()?",
  length: "use size()",
  len: "use size()",
  count: "use size()",
  includes: "use `item in list`, or text.contains(…)",
  find: "use filter(item, …)[0]",
  some: "use exists(item, …)",
  any: "use exists(item, …)",
  every: "use all(item, …)",
  push: "use `list + [item]`",
  append: "use `list + [item]`",
  concat: "use `+`",
  slice: "use substring(from, to)",
  substr: "use substring(from, to)",
  toString: "use string(…)",
  String: "use string(…)",
  str: "use string(…)",
  parseInt: "use int(…)",
  Number: "use double(…)",
  parseFloat: "use double(…)",
  float: "use double(…)",
  floor: "use int(…)",
  round: "use int(… + 0.5)",
  max: "use `a > b ? a : b`",
  min: "use `a < b ? a : b`",
  now: "`now` is a number of ms, without brackets",
};

/** The function is none of ours: a sentence that goes on after "The expression". */
export function unavailable(name: string): Refusal {
  if (Object.hasOwn(WHY_NOT, name)) return new Refusal(`calls ${WHY_NOT[name]}`);
  const instead = Object.hasOwn(INSTEAD, name) ? `: ${INSTEAD[name]}` : "";
  return new Refusal(`calls ${shorten(name, 60)}(), which does not exist here${instead}`);
}
