import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import type { Implementations } from "../../src/machine/implementations.ts";
import { edited } from "../support/edit.ts";
import { errorsWith, loan, messageWith } from "../support/problems.ts";

const I = "/states/draft/invoke";
const url = "https://example.com/charge";
const http: JsonObject = {
  id: "charge",
  src: "http",
  input: { url },
  onDone: "paid",
  onError: "expired",
};
const approval: JsonObject = {
  id: "ask",
  src: "approval",
  input: { assignee: "ann", title: "Release?" },
  onDone: "paid",
  onError: "expired",
};
const inCode: Implementations = {
  version: "test",
  actions: {},
  guards: {},
  delays: {},
  sources: { classify: () => Promise.resolve(null) },
};

const invoked = (invoke: JsonValue, implementations?: Implementations): string[] =>
  errorsWith({ [I]: invoke }, implementations);

function warningsOf(invoke: JsonValue): string[] {
  const { errors, warnings } = checkDefinition(edited(loan, { [I]: invoke }));
  expect(errors).toEqual([]);
  return warnings.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe("an invoke", () => {
  test.each<[JsonValue]>([
    [http],
    [[http, approval]],
    [{ ...http, input: { "@expr": "{'url': context.url}" } }],
    [
      {
        ...http,
        input: { url: { "@expr": "context.url" }, body: { a: [{ "@expr": "1" }] }, method: "POST" },
      },
    ],
    [{ ...http, input: { url, retry: { "@expr": "context.retry" } } }],
    [{ ...http, src: "task", input: { queue: "documents", input: { a: 1 } } }],
    [
      {
        ...http,
        src: "actor",
        input: { definitionId: "loan", forEach: { "@expr": "context.all" } },
      },
    ],
    [{ ...http, src: "compensate", input: undefined as never }],
    [{ ...http, compensate: { src: "task", input: { queue: "undo" } } }],
    [
      {
        ...http,
        onDone: { target: "paid", context: { amount: { "@expr": "event.output.body.n + 1" } } },
      },
    ],
    [
      {
        ...http,
        onError: [
          {
            target: "paid",
            guard: { "@expr": "event.error.code == 'http_status' && event.error.status >= 400" },
          },
          { target: "expired", guard: { "@expr": "event.error.attempts > 2" } },
        ],
      },
    ],
  ])("%j is accepted", (invoke) => {
    const given = JSON.parse(JSON.stringify(invoke)) as JsonValue;
    expect(invoked(given)).toEqual([]);
  });

  test.each<[JsonValue, string[]]>([
    ["http", [`${I} invalid_value`]],
    [{ ...http, src: "htpp" }, [`${I}/src unknown_source`]],
    [{ ...http, src: { type: "http" } }, [`${I}/src invalid_value`]],
    [{ id: "a", onError: "paid" }, [`${I} missing_key`]],
    [{ ...http, onSnapshot: {} }, [`${I}/onSnapshot old_key`]],
    [
      { ...http, systemId: "y", data: {}, oops: 1 },
      [`${I}/systemId old_key`, `${I}/data old_key`, `${I}/oops unknown_key`],
    ],
    [
      { ...http, onDone: "nowhere", onError: { target: "nobody" } },
      [`${I}/onDone unknown_target`, `${I}/onError/target unknown_target`],
    ],
    [
      { ...http, onDone: { guard: { "@expr": "event.output +" } } },
      [`${I}/onDone/guard/@expr invalid_expression`],
    ],
    [
      { ...http, onError: { guard: { "@expr": "'a' < 1" } } },
      [`${I}/onError/guard/@expr invalid_expression`],
    ],
    [
      [{ ...http, input: { url: { "@expr": "(" } } }],
      [`${I}/0/input/url/@expr invalid_expression`],
    ],
    [{ id: "a", src: "http", onError: "paid" }, [`${I} invalid_input`]],
    [{ ...http, input: [url] }, [`${I}/input invalid_input`]],
    [{ ...http, input: { url: "example.com" } }, [`${I}/input/url invalid_input`]],
    [{ ...http, input: { url, retries: 3 } }, [`${I}/input/retries invalid_input`]],
    [
      { ...http, input: { url, retry: { maxAttempts: 0 } } },
      [`${I}/input/retry/maxAttempts invalid_input`],
    ],
    [{ ...http, src: "task", input: { queue: "a b" } }, [`${I}/input/queue invalid_input`]],
    [{ ...http, src: "compensate" }, [`${I}/input invalid_input`]],
    [{ ...approval, input: { title: "x" } }, [`${I}/input invalid_input`]],
    [
      { ...http, src: "actor", input: { definitionId: "loan", forEach: 3 } },
      [`${I}/input/forEach invalid_input`],
    ],
  ])("%j is refused", (invoke, errors) => {
    expect(invoked(invoke)).toEqual(errors);
  });

  test("names a source in code that is there, with any input but a policy that is none", () => {
    const classify = { ...http, src: "classify", input: ["anything"] };
    expect(invoked(classify, inCode)).toEqual([]);
    expect(invoked({ ...classify, input: { retry: 3 } }, inCode)).toEqual([
      `${I}/input/retry invalid_input`,
    ]);
    expect(invoked(classify)).toEqual([`${I}/src unknown_source`]);
    const message = messageWith({ [I]: { ...http, src: "clasify" } }, inCode);
    expect(message).toContain("Did you mean 'classify'?");
    expect(message).toContain("http, task, approval, actor, compensate");
    expect(message).toContain("src/implementations/index.ts");
  });

  test.each(["", "#_parent", "@done", "a*", "*", "a\nb", "x".repeat(LIMITS.nameChars + 1), 7])(
    "cannot have the id %j",
    (id) => {
      expect(invoked({ ...http, id })).toEqual([`${I}/id invalid_id`]);
    },
  );

  test("needs an id where the one that XState makes would be a wildcard", () => {
    const states = (key: string) => ({
      id: "wild",
      initial: key,
      states: {
        [key]: { invoke: { src: "task", input: { queue: "q" }, onError: "off" } },
        off: {},
      },
    });
    expect(checkDefinition(states("*")).errors).toMatchObject([
      { pointer: "/states/*/invoke", code: "invalid_id" },
    ]);
    expect(checkDefinition(states("a*")).errors).toEqual([]);
  });

  test("may have an id as long as the limit", () => {
    expect(invoked({ ...http, id: "x".repeat(LIMITS.nameChars) })).toEqual([]);
  });
});

describe("an invoke's compensation", () => {
  test.each<[JsonValue, string[]]>([
    ["refund", [`${I}/compensate invalid_value`]],
    [{ input: {} }, [`${I}/compensate missing_key`]],
    [{ src: "refund" }, [`${I}/compensate/src unknown_source`]],
    [{ src: "compensate" }, [`${I}/compensate/src invalid_value`]],
    [{ src: "approval", input: {} }, [`${I}/compensate/src invalid_value`]],
    [{ src: "actor", input: {} }, [`${I}/compensate/src invalid_value`]],
    [{ src: "http" }, [`${I}/compensate invalid_input`]],
    [{ src: "http", input: { url: 1 } }, [`${I}/compensate/input/url invalid_input`]],
    [{ src: "http", input: { url }, id: "x" }, [`${I}/compensate/id unknown_key`]],
    [
      { src: "http", input: { url: { "@expr": "event.output." } } },
      [`${I}/compensate/input/url/@expr invalid_expression`],
    ],
  ])("%j is refused", (compensate, errors) => {
    expect(invoked({ ...http, compensate })).toEqual(errors);
  });

  test("is of no use on what undoes others", () => {
    const invoke = { id: "undo", src: "compensate", compensate: { src: "http", input: { url } } };
    expect(invoked(invoke)).toEqual([`${I}/compensate invalid_value`]);
  });
});

describe("ids of activities that can be active at once", () => {
  const R = "/states/review";
  const own = { ...http, onDone: "#loan.paid", onError: "#loan.expired" };

  test("are all different within a state", () => {
    expect(invoked([http, http])).toEqual([`${I}/1 duplicate_id`]);
    expect(invoked([http, { ...http, id: "other" }])).toEqual([]);
  });

  test("are all different from those of the states above", () => {
    const nested = { [`${R}/invoke`]: own, [`${R}/states/second/invoke`]: own };
    expect(errorsWith(nested)).toEqual([`${R}/states/second/invoke duplicate_id`]);
  });

  test("are all different in the regions of a parallel state", () => {
    const region = (id: string) => ({ initial: "a", states: { a: { invoke: { ...own, id } } } });
    const regions = (first: string, second: string) => ({
      [R]: {
        type: "parallel",
        states: { one: region(first), two: region(second) },
        onDone: "paid",
      },
    });
    expect(errorsWith(regions("x", "y"))).toEqual([]);
    expect(errorsWith(regions("x", "x"))).toEqual([`${R}/states/two/states/a/invoke duplicate_id`]);
  });

  test("may be the same in states of which only one is active", () => {
    const beside = {
      [I]: http,
      [`${R}/states/first/invoke`]: own,
      [`${R}/states/second/invoke`]: own,
    };
    expect(errorsWith(beside)).toEqual([]);
  });

  test("may not be one that XState gives to another without an id", () => {
    const { id: _id, ...nameless } = http;
    expect(invoked([nameless, { ...http, id: "0.draft" }])).toEqual([`${I}/1 duplicate_id`]);
  });

  test("only one of them undoes", () => {
    const undo = (id: string) => ({ id, src: "compensate", onError: "expired" });
    expect(invoked([undo("a"), undo("b")])).toEqual([`${I}/1 duplicate_compensation`]);
    expect(invoked([undo("a"), http])).toEqual([]);
  });

  test("are looked at in no time, however many there are", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => ({ id: `a${n % 50}`, src: "actor" }));
    const { errors } = checkDefinition(edited(loan, { [I]: many }));
    expect(errors).toHaveLength(LIMITS.problemsPerAnswer);
  });
});

describe("warnings of activities", () => {
  const without = (invoke: JsonObject, ...keys: string[]): JsonObject =>
    Object.fromEntries(Object.entries(invoke).filter(([key]) => !keys.includes(key)));

  test("one without id, and one without onError", () => {
    expect(warningsOf(http)).toEqual([]);
    expect(warningsOf(without(http, "id", "onError"))).toEqual([
      `${I} invoke_without_id`,
      `${I} invoke_without_on_error`,
    ]);
  });

  test("an approval that says that nobody is reminded; where it says nothing, somebody is", () => {
    const with_ = (input: JsonObject) => ({
      ...approval,
      input: { ...(approval["input"] as JsonObject), ...input },
    });
    const warning = [`${I}/input approval_without_reminder`];
    expect(warningsOf(approval)).toEqual([]);
    expect(warningsOf(with_({ reminders: [] }))).toEqual(warning);
    expect(warningsOf(with_({ reminders: [], escalate: [] }))).toEqual(warning);
    expect(warningsOf(with_({ reminders: { "@expr": "context.r" } }))).toEqual([]);
    expect(warningsOf(with_({ reminders: [], escalate: [{ afterMs: 1, to: "bob" }] }))).toEqual([]);
    expect(warningsOf({ ...approval, input: { "@expr": "context.a" } })).toEqual([]);
  });

  test("a state that only waits for another actor may wait for ever, for other activities it may not", () => {
    const chart = (invoke: JsonObject): string[] =>
      checkDefinition({
        id: "m",
        initial: "a",
        states: { a: { invoke }, paid: { type: "final" }, expired: { type: "final" } },
      }).warnings.map(({ code }) => code);
    expect(chart(http)).toEqual([]);
    expect(chart({ ...http, src: "task", input: { queue: "q" } })).toEqual([]);
    expect(chart(approval)).toEqual([]);
    expect(chart({ ...http, src: "actor", input: { definitionId: "loan" } })).toEqual([
      "no_timeout",
    ]);
    expect(chart({ ...http, onDone: {} })).toContain("no_timeout");
  });

  test("a wildcard that takes an output which the state itself does not", () => {
    const taking = (invoke: JsonObject): string[] => {
      const { warnings } = checkDefinition(
        edited(loan, { [I]: invoke, "/states/draft/on/*": "review" }),
      );
      return warnings.map(({ code }) => code);
    };
    expect(taking(http)).toEqual([]);
    expect(taking(without(http, "onDone"))).toEqual(["wildcard_takes_timers"]);
    const guarded = { target: "paid", guard: { "@expr": "event.output.status == 200" } };
    expect(taking({ ...http, onDone: guarded })).toEqual(["wildcard_takes_timers"]);
  });
});
