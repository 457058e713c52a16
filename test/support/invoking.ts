import { isJsonObject } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { seeded } from "./seeded.ts";

/**
 * Gives about half of a random machine's states an activity, which has the state's id: two versions that have a state
 * may have its activity, of one source or of another, with an end that leads elsewhere or with none.
 */
export function invoking(config: JsonObject, seed: number): JsonObject {
  const random = seeded(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const results: readonly JsonValue[] = [
    { target: "#s0" },
    { target: "#s1" },
    { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
  ];
  const result = (key: string): JsonObject => (random() < 0.7 ? { [key]: pick(results) } : {});
  const given = (state: JsonObject): JsonObject => {
    const { states } = state;
    const below = isJsonObject(states)
      ? Object.entries(states).map(([key, child]) => [key, given(child as JsonObject)])
      : null;
    const whole: JsonObject =
      below === null ? state : { ...state, states: Object.fromEntries(below) as JsonObject };
    const { id, type } = state;
    if (id === "m" || type === "final" || type === "history" || random() < 0.5) return whole;
    const src = pick(["book", "book", "ship"]);
    const input = { n: { "@expr": "context.n" } };
    return {
      ...whole,
      invoke: { id: id as string, src, input, ...result("onDone"), ...result("onError") },
    };
  };
  return given(config);
}
