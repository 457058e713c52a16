import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json.ts";
import { errorsWith, messageWith } from "../support/problems.ts";

const PLACES: Record<string, (source: string) => Record<string, JsonValue>> = {
  guard: (source) => ({
    "/states/draft/on": { GO: { target: "paid", guard: { "@expr": source } } },
  }),
  "guard within another": (source) => ({
    "/states/draft/on": {
      GO: { guard: { type: "xstate.not", params: { guard: { "@expr": source } } } },
    },
  }),
  delay: (source) => ({ "/delays/SOON": { "@expr": source } }),
  "delay of a raise": (source) => ({
    "/entry": { type: "@xstate.raise", event: { type: "told" }, delay: { "@expr": source } },
  }),
  reference: (source) => ({
    "/entry": { type: "@perdure.setRef", name: "invoice", value: { "@expr": source } },
  }),
  "id of a cancel": (source) => ({ "/entry": { type: "@xstate.cancel", id: { "@expr": source } } }),
  context: (source) => ({ "/context": { "@expr": source } }),
};

function changes(place: string, source: string): Record<string, JsonValue> {
  return PLACES[place]?.(source) ?? {};
}

describe("what an expression is known to give before it runs", () => {
  test.each<[string, string, string]>([
    ["guard", "3", "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard", '"yes"', "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard", "now", "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard", "size(event.n)", "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard", "null", "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard", "[true]", "/states/draft/on/GO/guard/@expr invalid_guard"],
    ["guard within another", "3", "/states/draft/on/GO/guard/params/guard/@expr invalid_guard"],
    ["delay", '"1s"', "/delays/SOON/@expr invalid_delay"],
    ["delay", "timestamp(now / 1000)", "/delays/SOON/@expr invalid_delay"],
    ["delay", "context.n > 1", "/delays/SOON/@expr invalid_delay"],
    ["delay of a raise", "null", "/entry/delay/@expr invalid_delay"],
    ["reference", "size(context.items)", "/entry/value/@expr invalid_value"],
    ["reference", 'duration("1h")', "/entry/value/@expr invalid_value"],
    ["id of a cancel", "1", "/entry/id/@expr invalid_value"],
    ["id of a cancel", "null", "/entry/id/@expr invalid_value"],
    ["context", "3", "/context/@expr invalid_value"],
  ])("refuses as %s: %s", (place, source, error) => {
    expect(errorsWith(changes(place, source))).toEqual([error]);
  });

  test.each<[string, string]>([
    ["guard", "context.ok"],
    ["guard", "context.ok && event.ok"],
    ["guard", "context.?ok.orValue(false)"],
    ["guard", "event.a ? true : event.b"],
    ["guard", "context.ok ? dyn(1) : true"],
    ["delay", 'duration("48h")'],
    ["delay", "1000 * 60"],
    ["delay", "context.ms * 2"],
    ["delay of a raise", "context.ms"],
    ["reference", "null"],
    ["reference", "has(event.invoice) ? event.invoice : null"],
    ["reference", "timestamp(now / 1000)"],
    ["id of a cancel", '"reminder " + event.id'],
    ["context", '{"n": 1}'],
    ["context", "input"],
  ])("takes as %s: %s", (place, source) => {
    expect(errorsWith(changes(place, source))).toEqual([]);
  });

  test("is refused with a remedy that works", () => {
    expect(messageWith(changes("guard", "size(event.n)"))).toBe(
      "A guard must give true or false, but this gives a number: compare it, as in `size(event.n) > 0`.",
    );
    expect(errorsWith(changes("guard", "size(event.n) > 0"))).toEqual([]);
    expect(messageWith(changes("delay", '"1s"'))).toBe(
      'A delay must give a number of ms, but this gives a string: write the number itself, or duration("48h").',
    );
    expect(messageWith(changes("reference", "now"))).toBe(
      "The value of a reference must be a string, or null to remove it, but this gives a number: convert it: string(now).",
    );
    expect(errorsWith(changes("reference", "string(now)"))).toEqual([]);
  });
});
