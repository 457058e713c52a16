import { isJsonObject } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { isDelayMs, isDelayName, isExpression, own, parseDelayKey } from "../dialect.ts";
import type { Check } from "./context.ts";
import { meantAsExpression } from "./lookalikes.ts";
import { quoted, suggestion } from "./problems.ts";
import { isCelDuration, spanOf } from "./spans.ts";
import { checkExpression } from "./templates.ts";

const WHOLE_MS = `a whole number of ms from 0 to ${LIMITS.delayMs}`;

/** The root's `delays`. */
export function checkDelays(check: Check): void {
  const delays = own(check.tree.root.config, "delays");
  if (delays === undefined) return;
  if (!isJsonObject(delays)) {
    check.errors.add("/delays", "invalid_value", "`delays` must be an object of delays by name.");
    return;
  }
  for (const [name, value] of Object.entries(delays)) {
    const place = at("/delays", name);
    if (!isDelayName(name) || name.length > LIMITS.nameChars || /\p{Cc}/u.test(name)) {
      check.errors.add(
        place,
        "invalid_delay",
        () =>
          `${quoted(name)} cannot name a delay: a name has 1 to ${LIMITS.nameChars} characters and does not read as a number.`,
      );
    }
    checkDeclared(check, value, place);
  }
}

function checkDeclared(check: Check, value: JsonValue, pointer: string): void {
  if (!isJsonObject(value) || !Object.hasOwn(value, "duration")) {
    checkDelayValue(check, value, pointer);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === "duration") continue;
    check.errors.add(at(pointer, key), "unknown_key", () => `A delay has no key ${quoted(key)}.`);
  }
  checkDelayValue(check, own(value, "duration") ?? null, at(pointer, "duration"));
}

function checkDelayValue(check: Check, value: JsonValue, pointer: string): void {
  if (isExpression(value)) {
    checkExpression(check, value, pointer, "anywhere", "delay");
  } else if (!isDelayMs(value)) {
    check.errors.add(
      pointer,
      "invalid_delay",
      () => `A delay is ${WHOLE_MS}, or an expression that gives one.${remedy(value)}`,
    );
  }
}

/** What to write for a text that says how long. */
function remedy(value: JsonValue): string {
  if (isJsonObject(value)) return meantAsExpression(value);
  const ms = typeof value === "string" ? spanOf(value) : null;
  if (typeof value !== "string" || ms === null) return "";
  if (!isCelDuration(value)) return ` Write ${ms}.`;
  const source = `duration(${JSON.stringify(value)})`;
  return ` Write ${ms}, or {"@expr": ${JSON.stringify(source)}}.`;
}

/** The `delay` of an action: ms, an expression or a name. */
export function checkDelay(check: Check, value: JsonValue, pointer: string): void {
  if (typeof value === "string") checkDelayName(check, value, pointer);
  else checkDelayValue(check, value, pointer);
}

/** A key of `after`. */
export function checkDelayKey(check: Check, key: string, pointer: string): void {
  const delay = parseDelayKey(key);
  if (delay.kind === "name") {
    checkDelayName(check, delay.name, pointer, (ms) => `"${ms}"`);
  } else if (delay.kind === "bad" || !isDelayMs(delay.ms)) {
    check.errors.add(
      pointer,
      "invalid_delay",
      () =>
        `${quoted(key)} is no delay: write ${WHOLE_MS} in digits, or the name of one of \`delays\`.`,
    );
  }
}

function checkDelayName(
  check: Check,
  name: string,
  pointer: string,
  inDigits: (ms: number) => string = String,
): void {
  if (check.delays.has(name) || Object.hasOwn(check.implementations.delays, name)) return;
  const code = /^\s*[-+\d.]/.test(name) ? "invalid_delay" : "unknown_delay";
  check.errors.add(pointer, code, () => {
    const near = suggestion(name, [...check.delays, ...Object.keys(check.implementations.delays)]);
    const ms = spanOf(name);
    const digits = ms === null ? "ms in digits" : `the ms, ${inDigits(ms)}`;
    const how = `"delays": {${JSON.stringify(name.slice(0, 80))}: ${ms ?? 60_000}}`;
    if (!isDelayName(name)) return `A delay in a string is a name. Write ${digits}.`;
    return `No delay is named ${quoted(name)}.${near} Write ${digits}, or declare it at the root: ${how}.`;
  });
}
