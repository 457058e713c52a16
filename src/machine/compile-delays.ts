import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { at } from "../base/pointer.ts";
import { argsOf } from "./compile-guards.ts";
import type { ActionArgs } from "./engine-types.ts";
import { dataOf, evaluation } from "./evaluation.ts";
import type { Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";
import type { EventData } from "./types.ts";

/** ms, as XState asks for them. */
export type Delay = (args: ActionArgs) => number;

/** The delays that have names, those of the definition before those in code. */
export function namedDelays(
  definition: JsonObject,
  implementations: Implementations,
): ReadonlyMap<string, Delay> {
  const named = new Map<string, Delay>();
  for (const [name, delay] of Object.entries(implementations.delays)) {
    named.set(name, ({ context, event }) =>
      wholeMs(delay(argsOf(dataOf(context), event as EventData, undefined)), at("/delays", name)),
    );
  }
  const declared = definition["delays"];
  if (!isJsonObject(declared)) return named;
  for (const [name, config] of Object.entries(declared)) {
    const nested = isJsonObject(config) && Object.hasOwn(config, "duration");
    const value = nested ? (config as JsonObject)["duration"] : config;
    const pointer = nested ? at(at("/delays", name), "duration") : at("/delays", name);
    named.set(name, filled(value as JsonValue, pointer));
  }
  return named;
}

/** A delay where an action has one: a number, an expression, or a name. */
export function compileDelay(
  config: JsonValue,
  pointer: string,
  named: ReadonlyMap<string, Delay>,
): Delay {
  if (typeof config !== "string") return filled(config, pointer);
  const delay = named.get(config);
  if (delay === undefined) throw new Error(`${pointer}: no delay is named '${config}'.`);
  return delay;
}

function filled(value: JsonValue, pointer: string): Delay {
  const template = compileTemplate(value, pointer);
  return ({ context, event }) => wholeMs(template(dataOf(context), event), pointer);
}

export function wholeMs(value: unknown, pointer: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LIMITS.delayMs) {
    return value as number;
  }
  return evaluation().fail({
    code: "expression_failed",
    message: `A delay must be a whole number of ms from 0 to ${LIMITS.delayMs}; round it with int(…).`,
    pointer,
  });
}
