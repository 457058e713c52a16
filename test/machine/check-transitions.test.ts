import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Changes } from "../support/problems.ts";
import { errorsWith, messageWith } from "../support/problems.ts";

type Case = [what: string, changes: Changes, errors: string[]];
const GO = "/states/draft/on/GO";

describe("transitions", () => {
  test.each<Case>([
    ["null", { [GO]: null }, [`${GO} invalid_transition`]],
    ["a number", { [GO]: 1 }, [`${GO} invalid_transition`]],
    ["true", { [GO]: true }, [`${GO} invalid_transition`]],
    ["null in a list", { [GO]: ["paid", null] }, [`${GO}/1 invalid_transition`]],
    ["a list in a list", { [GO]: [["paid"]] }, [`${GO}/0 invalid_transition`]],
    ["an empty list", { [GO]: [] }, [`${GO} invalid_transition`]],
    ["on that is a list", { "/states/draft/on": [] }, ["/states/draft/on invalid_value"]],
    [
      "after that is a list",
      { "/states/draft/after": [{ delay: 1 }] },
      ["/states/draft/after invalid_value"],
    ],
    ["an unknown key", { [GO]: { traget: "paid" } }, [`${GO}/traget unknown_key`]],
    ["reenter that is a word", { [GO]: { reenter: "yes" } }, [`${GO}/reenter invalid_value`]],
    [
      "a description that is a list",
      { [GO]: { description: [] } },
      [`${GO}/description invalid_value`],
    ],
    ["matches that is a word", { [GO]: { matches: "x" } }, [`${GO}/matches invalid_value`]],
    [
      "an expression in matches",
      { [GO]: { matches: { a: [{ "@expr": "1" }] } } },
      [`${GO}/matches/a/0 expression_not_allowed`],
    ],
    [
      "a context that is one expression",
      { [GO]: { context: { "@expr": "event" } } },
      [`${GO}/context invalid_value`],
    ],
    ["a context that is a list", { [GO]: { context: [] } }, [`${GO}/context invalid_value`]],
    [
      "__proto__ in a context",
      { [`${GO}/context/__proto__`]: 1 },
      [`${GO}/context/__proto__ reserved_key`],
    ],
    [
      "problems in always, after and onDone",
      {
        "/states/draft/always": { target: "nowhere" },
        "/states/draft/after": { 10: { cond: "x" } },
        "/states/review/onDone": [{ target: "paid", guard: 1 }],
      },
      [
        "/states/draft/after/10/cond old_key",
        "/states/draft/always/target unknown_target",
        "/states/review/onDone/0/guard invalid_guard",
      ],
    ],
  ])("refuses %s", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("accepts all forms and all keys", () => {
    expect(
      errorsWith({
        "/states/draft/on": {
          A: "paid",
          B: {},
          C: { target: "paid" },
          D: [{ target: ["paid"], guard: { "@expr": "true" } }, "expired"],
          E: {
            target: "draft",
            reenter: true,
            guard: { "@expr": "event.n > context.amount" },
            matches: { ok: true, by: { name: "x" } },
            context: { amount: { "@expr": "event.n" }, list: [1, { "@expr": "event.n" }] },
            actions: [],
            description: "again",
            meta: { any: 1 },
          },
          F: { actions: { type: "@xstate.log", args: [] } },
        },
      }),
    ).toEqual([]);
  });

  test.each<[key: string, form: string]>([
    ["cond", "`guard`"],
    ["internal", "`reenter: true`"],
    ["in", "xstate.stateIn"],
    ["delay", '`"after"'],
    ["data", "`params`"],
  ])("the old key %s is told with the form of today", (key, form) => {
    expect(errorsWith({ [GO]: { [key]: 1 } })).toEqual([`${GO}/${key} old_key`]);
    expect(messageWith({ [GO]: { [key]: 1 } })).toContain(form);
  });
});

describe("events", () => {
  test.each([
    "a",
    "A.b",
    "order.*",
    "a.b.*",
    "*",
    "a b",
    "xstate",
    "done.state.x",
    "1",
    "ä",
    "a".repeat(LIMITS.eventTypeChars),
  ])("%s can be waited for", (descriptor) => {
    expect(errorsWith({ "/states/draft/on": { [descriptor]: "paid" } })).toEqual([]);
  });

  test.each([
    ["", "invalid_event_type"],
    ["a".repeat(LIMITS.eventTypeChars + 1), "invalid_event_type"],
    [`${"a".repeat(LIMITS.eventTypeChars - 1)}.*`, "invalid_event_type"],
    ["xstate.", "reserved_event_type"],
    ["xstate.*", "reserved_event_type"],
    ["xstate.done.actor.x", "reserved_event_type"],
    ["@timer", "reserved_event_type"],
    ["!x", "reserved_event_type"],
    ["@.*", "reserved_event_type"],
    ["a*", "invalid_wildcard"],
    ["*.a", "invalid_wildcard"],
    ["a.*.b", "invalid_wildcard"],
    ["**", "invalid_wildcard"],
    ["a.**", "invalid_wildcard"],
    ["*.*", "invalid_wildcard"],
    [".*", "invalid_wildcard"],
  ])("%s cannot be waited for: %s", (descriptor, code) => {
    expect(errorsWith({ "/states/draft/on": { [descriptor]: "paid" } })).toEqual([
      `/states/draft/on/${descriptor} ${code}`,
    ]);
  });

  test.each([
    "*",
    "a.*",
    "a*",
    "",
    "@x",
    "!x",
    "xstate.init",
    "a".repeat(LIMITS.eventTypeChars + 1),
  ])("%j cannot be sent", (type) => {
    for (const action of ["@xstate.raise", "@xstate.emit"]) {
      const errors = errorsWith({ "/entry": { type: action, event: { type } } });
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatch(/^\/entry\/event\/type (invalid|reserved)_/);
    }
  });

  test("two types with one 32-bit code are refused, wherever they stand", () => {
    // A published collision of FNV-1a-32.
    expect(errorsWith({ "/states/draft/on": { costarring: {}, liquid: {} } })).toEqual([
      "/states/draft/on/liquid event_code_clash",
    ]);
    expect(
      errorsWith({
        "/states/draft/on": { costarring: {} },
        "/states/review/entry": { type: "@xstate.raise", event: { type: "liquid" } },
      }),
    ).toHaveLength(1);
    expect(errorsWith({ "/states/draft/on": { costarring: {}, "liquid.*": {} } })).toEqual([]);
  });
});

describe("delays", () => {
  test.each(["0", "1", "60000", String(LIMITS.delayMs), "PATIENCE"])(
    "after %s is accepted",
    (key) => {
      expect(errorsWith({ "/states/draft/after": { [key]: "paid" } })).toEqual([]);
    },
  );

  test.each([
    "1s",
    "1.5",
    " 10",
    "-1",
    "1e3",
    "010",
    "0x10",
    "",
    "Infinity",
    "+5",
    String(LIMITS.delayMs + 1),
    "99999999999999999999",
  ])("after %j is refused", (key) => {
    expect(errorsWith({ "/states/draft/after": { [key]: "paid" } })).toEqual([
      `/states/draft/after/${key} invalid_delay`,
    ]);
  });

  test("a name that nobody declares is told with a near one and with the way to declare it", () => {
    const changes = { "/states/draft/after": { PATIENC: "paid" } };
    expect(errorsWith(changes)).toEqual(["/states/draft/after/PATIENC unknown_delay"]);
    expect(messageWith(changes)).toContain("Did you mean 'PATIENCE'?");
    expect(messageWith(changes)).toContain('"delays": {"PATIENC": 60000}');
  });

  test("may be declared in whole ms, as an expression, or as a duration", () => {
    expect(
      errorsWith({
        "/delays": {
          A: 0,
          B: { "@expr": "context.amount" },
          C: { duration: 10 },
          D: { duration: { "@expr": "1 + 1" } },
          PATIENCE: LIMITS.delayMs,
        },
      }),
    ).toEqual([]);
  });

  test.each<Case>([
    ["a fraction", { "/delays/A": 1.5 }, ["/delays/A invalid_delay"]],
    ["a negative number", { "/delays/A": -1 }, ["/delays/A invalid_delay"]],
    ["more than the longest", { "/delays/A": LIMITS.delayMs + 1 }, ["/delays/A invalid_delay"]],
    ["a text", { "/delays/A": "10" }, ["/delays/A invalid_delay"]],
    ["another name", { "/delays/A": "PATIENCE" }, ["/delays/A invalid_delay"]],
    ["an empty object", { "/delays/A": {} }, ["/delays/A invalid_delay"]],
    [
      "a duration of a fraction",
      { "/delays/A": { duration: 0.5 } },
      ["/delays/A/duration invalid_delay"],
    ],
    [
      "a duration and more",
      { "/delays/A": { duration: 1, unit: "s" } },
      ["/delays/A/unit unknown_key"],
    ],
    [
      "a wrong expression",
      { "/delays/A": { "@expr": "1 +" } },
      ["/delays/A/@expr invalid_expression"],
    ],
    ["a name that reads as a number", { "/delays/10": 1 }, ["/delays/10 invalid_delay"]],
    ["an empty name", { "/delays/": 1 }, ["/delays/ invalid_delay"]],
    [
      "a list",
      { "/delays": [] },
      ["/delays invalid_value", "/states/review/after/PATIENCE unknown_delay"],
    ],
  ])("declared as %s are refused", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("of a raise are whole ms, an expression or a name", () => {
    const raise = (delay: number | string | object): Changes => ({
      "/entry": { type: "@xstate.raise", event: { type: "x" }, delay: delay as never },
    });
    for (const delay of [0, 1000, { "@expr": "10" }, "PATIENCE"])
      expect(errorsWith(raise(delay))).toEqual([]);
    for (const delay of [-1, 0.5, "10", "1s"]) {
      expect(errorsWith(raise(delay))).toEqual(["/entry/delay invalid_delay"]);
    }
    expect(errorsWith(raise("LATER"))).toEqual(["/entry/delay unknown_delay"]);
  });
});
