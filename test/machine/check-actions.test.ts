import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { JsonValue } from "../../src/base/json.ts";
import type { Implementations } from "../../src/machine/implementations.ts";
import { errorsWith, messageWith } from "../support/problems.ts";

const inCode: Implementations = {
  version: "1",
  actions: { notify: () => {} },
  guards: { isLarge: () => true },
  delays: { backoff: () => 1 },
  sources: { classify: () => Promise.resolve(null) },
};

function entry(action: JsonValue, implementations?: Implementations): string[] {
  return errorsWith({ "/entry": action }, implementations);
}

function guard(value: JsonValue, implementations?: Implementations): string[] {
  return errorsWith(
    { "/states/draft/on": { GO: { target: "paid", guard: value } } },
    implementations,
  );
}

const G = "/states/draft/on/GO/guard";
const event = { type: "told", n: { "@expr": "context.amount" } };

describe("actions", () => {
  test.each<JsonValue>([
    { type: "@xstate.assign", context: { amount: { "@expr": "context.amount + 1" }, list: [1] } },
    { type: "@xstate.assign", context: {} },
    { type: "@xstate.raise", event },
    { type: "@xstate.raise", event, delay: 10, id: "later" },
    { type: "@xstate.cancel", id: "later" },
    { type: "@xstate.cancel", id: { "@expr": "event.id" } },
    { type: "@xstate.emit", event },
    { type: "@xstate.log", args: ["x", { "@expr": "now" }] },
    { type: "@perdure.setRef", name: "invoice", value: "i-1" },
    { type: "@perdure.setRef", name: "invoice", value: null },
    { type: "@perdure.setRef", name: "invoice", value: { "@expr": "event.invoice" } },
  ])("%j is accepted, alone and in a list", (action) => {
    expect(entry(action)).toEqual([]);
    expect(entry([action, action])).toEqual([]);
  });

  test.each<[JsonValue, string[]]>([
    [1, ["/entry invalid_action"]],
    [null, ["/entry invalid_action"]],
    [[[]], ["/entry/0 invalid_action"]],
    [{ params: {} }, ["/entry invalid_action"]],
    ["@xstate.assign", ["/entry unknown_action"]],
    [{ type: "@xstate.assign" }, ["/entry missing_key"]],
    [{ type: "@xstate.assign", context: [] }, ["/entry/context invalid_value"]],
    [{ type: "@xstate.assign", context: { "@expr": "event" } }, ["/entry/context invalid_value"]],
    [{ type: "@xstate.assign", context: {}, params: {} }, ["/entry/params unknown_key"]],
    [
      { type: "@xstate.assign", context: { a: { b: [{ "@expr": "(" }] } } },
      ["/entry/context/a/b/0/@expr invalid_expression"],
    ],
    [{ type: "@xstate.raise" }, ["/entry missing_key"]],
    [{ type: "@xstate.raise", event: "told" }, ["/entry/event invalid_event"]],
    [{ type: "@xstate.raise", event: {} }, ["/entry/event invalid_event"]],
    [{ type: "@xstate.raise", event: { "@expr": "event" } }, ["/entry/event invalid_event"]],
    [
      { type: "@xstate.raise", event: { type: { "@expr": "'x'" } } },
      ["/entry/event/type invalid_event"],
    ],
    [{ type: "@xstate.raise", event, id: "" }, ["/entry/id invalid_value"]],
    [{ type: "@xstate.raise", event, id: { "@expr": "'x'" } }, ["/entry/id invalid_value"]],
    [{ type: "@xstate.raise", event, id: "xstate.after.1.loan" }, ["/entry/id reserved_id"]],
    [{ type: "@xstate.cancel", id: "xstate.after.1000.loan.draft" }, ["/entry/id reserved_id"]],
    [{ type: "@xstate.cancel", id: 1 }, ["/entry/id invalid_value"]],
    [{ type: "@xstate.log", args: "x" }, ["/entry/args invalid_value"]],
    [{ type: "@xstate.log", label: "x" }, ["/entry/label unknown_key", "/entry missing_key"]],
    [{ type: "@perdure.setRef", name: "", value: null }, ["/entry/name invalid_value"]],
    [
      { type: "@perdure.setRef", name: "x".repeat(LIMITS.refNameChars + 1), value: null },
      ["/entry/name invalid_value"],
    ],
    [
      { type: "@perdure.setRef", name: { "@expr": "'x'" }, value: null },
      ["/entry/name invalid_value"],
    ],
    [{ type: "@perdure.setRef", name: "a", value: 1 }, ["/entry/value invalid_value"]],
    [
      { type: "@perdure.setRef", name: "a", value: "x".repeat(LIMITS.refValueChars + 1) },
      ["/entry/value invalid_value"],
    ],
    [{ type: "@perdure.setRef", name: "a" }, ["/entry missing_key"]],
    [{ type: "@perdure.forget" }, ["/entry/type unknown_action"]],
    ["notify", ["/entry unknown_action"]],
    [
      { type: "notify", params: { "@expr": "(" } },
      ["/entry/type unknown_action", "/entry/params/@expr invalid_expression"],
    ],
    [{ type: "notify", context: {} }, ["/entry/type unknown_action", "/entry/context unknown_key"]],
  ])("%j is refused", (action, errors) => {
    expect(entry(action)).toEqual(errors);
  });

  test("at the limits are accepted", () => {
    const name = "x".repeat(LIMITS.refNameChars);
    const value = "x".repeat(LIMITS.refValueChars);
    expect(entry({ type: "@perdure.setRef", name, value })).toEqual([]);
  });

  test("__proto__ cannot be assigned at the first level, below it is data", () => {
    expect(entry(JSON.parse('{"type": "@xstate.assign", "context": {"__proto__": 1}}'))).toEqual([
      "/entry/context/__proto__ reserved_key",
    ]);
    expect(
      entry(JSON.parse('{"type": "@xstate.assign", "context": {"a": {"__proto__": 1}}}')),
    ).toEqual([]);
  });

  test.each([
    { type: "@xstate.sendTo", to: "#_parent", event },
    { type: "@xstate.sendTo", to: { "@expr": "context.other" }, event, delay: 10, id: "later" },
    { type: "@xstate.spawnChild", src: "actor", input: { definitionId: "loan" } },
    { type: "@xstate.spawnChild", src: "classify", id: { "@expr": "'c' + string(context.n)" } },
    { type: "@xstate.stopChild", id: "child" },
  ])("%j is accepted", (action) => {
    expect(entry(action, inCode)).toEqual([]);
  });

  test.each<[JsonValue, string[]]>([
    [{ type: "@xstate.sendTo" }, ["/entry missing_key", "/entry missing_key"]],
    [{ type: "@xstate.sendTo", to: 1, event }, ["/entry/to invalid_value"]],
    [{ type: "@xstate.sendTo", to: "a", event: "paid" }, ["/entry/event invalid_event"]],
    [
      { type: "@xstate.sendTo", to: "a", event: { type: "xstate.stop" } },
      ["/entry/event/type reserved_event_type"],
    ],
    [{ type: "@xstate.sendTo", to: "a", event, delay: -1 }, ["/entry/delay invalid_delay"]],
    [{ type: "@xstate.sendTo", to: "a", event, id: "xstate.a" }, ["/entry/id reserved_id"]],
    [{ type: "@xstate.spawnChild" }, ["/entry missing_key"]],
    [{ type: "@xstate.spawnChild", src: "nope" }, ["/entry/src unknown_source"]],
    [{ type: "@xstate.spawnChild", src: 1 }, ["/entry/src invalid_value"]],
    [{ type: "@xstate.stopChild" }, ["/entry missing_key"]],
    [{ type: "@xstate.stopChild", id: "" }, ["/entry/id invalid_value"]],
  ])("%j is refused", (action, errors) => {
    expect(entry(action)).toEqual(errors);
  });

  test("in XState's own words are told in the words of data", () => {
    for (const name of ["xstate.assign", "assign", "@perdure.assign"]) {
      expect(messageWith({ "/entry": { type: name } })).toContain(
        '{"type": "@xstate.assign", "context":',
      );
    }
    expect(messageWith({ "/entry": "xstate.raise" })).toContain(
      '{"type": "@xstate.raise", "event":',
    );
    expect(messageWith({ "/entry": "@xstate.log" })).toContain('{"type": "@xstate.log", "args":');
    expect(messageWith({ "/entry": "sendMail" })).toContain("@xstate.assign");
  });

  test("stand in entry, exit and transitions alike", () => {
    const wrong = { type: "nobody" };
    expect(
      errorsWith({
        "/states/draft/exit": wrong,
        "/states/draft/always": { target: "paid", guard: { "@expr": "true" }, actions: [wrong] },
        "/states/review/onDone": { actions: wrong },
      }),
    ).toHaveLength(3);
  });

  test("names are those of the implementations given", () => {
    expect(entry(["notify", { type: "notify", params: { a: { "@expr": "1" } } }], inCode)).toEqual(
      [],
    );
    expect(messageWith({ "/entry": "notfiy" }, inCode)).toContain("Did you mean 'notify'?");
    expect(errorsWith({ "/states/draft/after": { backoff: "paid" } }, inCode)).toEqual([]);
    expect(errorsWith({ "/states/draft/after": { backoff: "paid" } })).toHaveLength(1);
  });
});

describe("guards", () => {
  test.each<JsonValue>([
    { "@expr": "context.amount > 1000" },
    { "@expr": "true", "@lang": "cel" },
    { type: "xstate.stateIn", params: { stateId: "#loan.draft" } },
    { type: "xstate.stateIn", params: { stateId: "#checking.first" } },
    { type: "xstate.not", params: { guard: { "@expr": "now > 1" } } },
    {
      type: "xstate.and",
      params: { guards: [{ "@expr": "true" }, { type: "xstate.or", params: { guards: [] } }] },
    },
  ])("%j is accepted", (value) => {
    expect(guard(value)).toEqual([]);
  });

  test.each<[JsonValue, string[]]>([
    [1, [`${G} invalid_guard`]],
    [[], [`${G} invalid_guard`]],
    [null, [`${G} invalid_guard`]],
    [{ params: {} }, [`${G} invalid_guard`]],
    ["isLarge", [`${G} unknown_guard`]],
    [
      { type: "isLarge", params: { "@expr": ")" } },
      [`${G}/type unknown_guard`, `${G}/params/@expr invalid_expression`],
    ],
    [{ "@expr": "true", type: "x" }, [`${G}/type unknown_key`]],
    [{ "@expr": "true", "@lang": "js" }, [`${G}/@lang invalid_expression`]],
    [{ "@expr": 1 }, [`${G}/@expr invalid_expression`]],
    [{ "@expr": "context.amount >" }, [`${G}/@expr invalid_expression`]],
    [{ "@expr": "nobody > 1" }, [`${G}/@expr invalid_expression`]],
    [{ "@expr": "x".repeat(LIMITS.expressionChars + 1) }, [`${G}/@expr invalid_expression`]],
    [{ type: "xstate.stateIn" }, [`${G}/params invalid_guard`]],
    [
      { type: "xstate.stateIn", params: { stateId: "draft" } },
      [`${G}/params/stateId invalid_guard`],
    ],
    [
      { type: "xstate.stateIn", params: { stateId: "#nobody" } },
      [`${G}/params/stateId unknown_target`],
    ],
    [{ type: "xstate.stateIn", params: { stateId: "#loan", x: 1 } }, [`${G}/params/x unknown_key`]],
    [{ type: "xstate.not", params: {} }, [`${G}/params invalid_guard`]],
    [{ type: "xstate.not", params: { guard: "isLarge" } }, [`${G}/params/guard unknown_guard`]],
    [{ type: "xstate.and", params: { guards: {} } }, [`${G}/params/guards invalid_guard`]],
    [
      { type: "xstate.or", params: { guards: [{ "@expr": "(" }] } },
      [`${G}/params/guards/0/@expr invalid_expression`],
    ],
    [{ type: "@xstate.not", params: {} }, [`${G}/type unknown_guard`]],
    [{ type: "xstate.stateIn", params: { stateId: "#loan" }, cond: 1 }, [`${G}/cond old_key`]],
  ])("%j is refused", (value, errors) => {
    expect(guard(value)).toEqual(errors);
  });

  test("a name that is an expression is told as one", () => {
    const changes = { "/states/draft/on": { GO: { guard: "context.amount > 7" } } };
    expect(messageWith(changes)).toContain('"guard":{"@expr":"context.amount > 7"}');
    expect(messageWith({ "/states/draft/on": { GO: { guard: "isLarge" } } })).toContain(
      '{"@expr":',
    );
  });

  test("names are those of the implementations given", () => {
    expect(guard("isLarge", inCode)).toEqual([]);
    expect(guard({ type: "isLarge", params: { a: 1 } }, inCode)).toEqual([]);
  });

  test("of always have neither clock nor chance, however deep", () => {
    const always = (value: JsonValue, implementations?: Implementations): string[] =>
      errorsWith({ "/states/draft/always": { target: "paid", guard: value } }, implementations);
    for (const source of ["now > 1", "random() > 0.5", "uuid() == 'x'"]) {
      const clock = { "@expr": source };
      const A = "/states/draft/always/guard";
      expect(always(clock)).toEqual([`${A}/@expr clock_in_always`]);
      expect(always({ type: "xstate.not", params: { guard: clock } })).toEqual([
        `${A}/params/guard/@expr clock_in_always`,
      ]);
      const either = { type: "xstate.or", params: { guards: [{ "@expr": "true" }, clock] } };
      expect(always({ type: "xstate.and", params: { guards: [either] } })).toEqual([
        `${A}/params/guards/0/params/guards/1/@expr clock_in_always`,
      ]);
      expect(always({ type: "isLarge", params: { at: clock } }, inCode)).toEqual([
        `${A}/params/at/@expr clock_in_always`,
      ]);
      expect(guard(clock)).toEqual([]);
    }
    expect(always({ "@expr": "context.amount > 1" })).toEqual([]);
  });
});

describe("templates", () => {
  test("hold expressions at any depth, each with its own pointer", () => {
    expect(
      errorsWith({
        "/context": { a: [{ b: { "@expr": "1 +" } }], c: { "@expr": "input.x" } },
        "/output": { "@expr": "((" },
        "/states/paid/output": [{ "@expr": "" }],
      }),
    ).toEqual([
      "/context/a/0/b/@expr invalid_expression",
      "/output/@expr invalid_expression",
      "/states/paid/output/0/@expr invalid_expression",
    ]);
  });

  test("a whole context may be one expression", () => {
    expect(errorsWith({ "/context": { "@expr": "{'amount': input.amount}" } })).toEqual([]);
  });

  test("an expression has no other keys, and code is not run", () => {
    expect(errorsWith({ "/context": { a: { "@expr": "1", note: "x" } } })).toEqual([
      "/context/a/note unknown_key",
    ]);
    expect(errorsWith({ "/context": { a: { "@code": "() => 1", "@lang": "ts" } } })).toEqual([
      "/context/a/@code invalid_expression",
    ]);
  });
});
