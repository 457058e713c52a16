import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Changes } from "../support/problems.ts";
import { errorsWith, messageWith } from "../support/problems.ts";

type Case = [what: string, changes: Changes, errors: string[]];

describe("states", () => {
  test.each<Case>([
    ["an unknown key", { "/states/draft/onn": {} }, ["/states/draft/onn unknown_key"]],
    ["an unknown type", { "/states/draft/type": "Final" }, ["/states/draft/type unknown_type"]],
    ["a type that is no string", { "/states/draft/type": 1 }, ["/states/draft/type unknown_type"]],
    ["a state that is no object", { "/states/draft": "x" }, ["/states/draft invalid_value"]],
    [
      "states that are no object",
      { "/states/draft/states": [] },
      ["/states/draft/states invalid_value"],
    ],
    [
      "a description that is no string",
      { "/states/draft/description": 1 },
      ["/states/draft/description invalid_value"],
    ],
    [
      "tags that are no strings",
      { "/states/draft/tags": ["a", 1] },
      ["/states/draft/tags invalid_value"],
    ],
    ["a version that is no string", { "/version": 2 }, ["/version invalid_value"]],
    ["a context that is no object", { "/context": [] }, ["/context invalid_value"]],
    ["an option that is not known", { "/options": { fast: true } }, ["/options/fast unknown_key"]],
    [
      "a key of the root elsewhere",
      { "/states/draft/context": {} },
      ["/states/draft/context misplaced_key"],
    ],
    ["onDone of the root", { "/onDone": {} }, ["/onDone misplaced_key"]],
    [
      "onDone without states",
      { "/states/draft/onDone": "paid" },
      ["/states/draft/onDone misplaced_key"],
    ],
    [
      "output of a state that is not final",
      { "/states/draft/output": 1 },
      ["/states/draft/output misplaced_key"],
    ],
    [
      "a target outside of a transition",
      { "/states/draft/target": "paid" },
      ["/states/draft/target misplaced_key"],
    ],
    [
      "a final state that goes on",
      { "/states/paid/on": { A: "draft" }, "/states/paid/after": { 1: "draft" } },
      ["/states/paid/on misplaced_key", "/states/paid/after misplaced_key"],
    ],
  ])("refuses %s", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("refuses a root that is final or a history state", () => {
    for (const type of ["final", "history"]) {
      expect(errorsWith({ "/type": type })).toContain("/type invalid_root");
    }
  });

  test("accepts all that a state may have", () => {
    expect(
      errorsWith({
        "/$schema": "https://example.com/machine.json",
        "/version": "1.0.0",
        "/description": "a loan",
        "/output": { ok: true },
        "/meta": [1],
        "/tags": ["t"],
        "/entry": [],
        "/states/draft/tags": "open",
        "/states/draft/meta": { "@expr": "not evaluated", any: null },
        "/states/draft/states": {},
        "/states/paid/output": { "@expr": "context.amount" },
        "/states/paid/exit": [],
      }),
    ).toEqual([]);
  });

  test("a wrong key is told with the right one", () => {
    expect(messageWith({ "/states/draft/alwyas": "paid" })).toContain("Did you mean 'always'?");
    expect(messageWith({ "/states/draft/Entry": [] })).toContain("Did you mean 'entry'?");
    expect(messageWith({ "/states/draft/frobnicate": [] })).not.toContain("Did you mean");
  });

  test.each<[key: string, form: string]>([
    ["onEntry", "`entry`"],
    ["onExit", "`exit`"],
    ["activities", "`invoke`"],
    ["data", "`output`"],
    ["strict", "leave it out"],
    ["key", "key under `states`"],
    ["parallel", '"type": "parallel"'],
    ["cond", "`guard`"],
    ["internal", "`reenter`"],
    ["schema", "leave it out"],
    ["predictableActionArguments", "leave it out"],
    ["guards", "expression"],
  ])("a state's old key %s is told with the form of today", (key, form) => {
    expect(errorsWith({ [`/states/draft/${key}`]: 1 })).toEqual([`/states/draft/${key} old_key`]);
    expect(messageWith({ [`/states/draft/${key}`]: 1 })).toContain(form);
  });
});

describe("initial", () => {
  test.each<Case>([
    ["none", { "/initial": undefined }, [" missing_initial"]],
    ["one that is not there", { "/initial": "drat" }, ["/initial unknown_initial"]],
    ["a path", { "/initial": "review.first" }, ["/initial unknown_initial"]],
    ["an id", { "/initial": "#checking" }, ["/initial unknown_initial"]],
    ["a list", { "/initial": ["draft"] }, ["/initial invalid_value"]],
    ["an object", { "/initial": { target: "draft" } }, ["/initial invalid_value"]],
    [
      "a history state",
      { "/states/h": { type: "history", target: "paid" }, "/initial": "h" },
      ["/initial initial_is_history"],
    ],
    [
      "a state whose initial is a history state",
      {
        "/initial": "review",
        "/states/review/states/h": { history: "deep" },
        "/states/review/initial": "h",
      },
      ["/states/review/initial initial_is_history"],
    ],
    [
      "one of a state without states",
      { "/states/draft/initial": "x" },
      ["/states/draft/initial initial_not_allowed"],
    ],
    [
      "one of a parallel state",
      { "/states/review/type": "parallel" },
      ["/states/review/initial initial_not_allowed"],
    ],
  ])("refuses %s", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("an unknown one is told with a near key, or with some key", () => {
    expect(messageWith({ "/initial": "drat" })).toContain("Did you mean 'draft'?");
    expect(messageWith({ "/initial": undefined })).toContain('Try "initial": "draft".');
  });
});

describe("types of states", () => {
  test.each<Case>([
    [
      "compound without states",
      { "/states/draft/type": "compound" },
      ["/states/draft/type missing_states", "/states/draft missing_initial"],
    ],
    [
      "parallel without states",
      { "/states/draft/type": "parallel" },
      ["/states/draft/type missing_states"],
    ],
    [
      "parallel with a history state only",
      {
        "/states/draft/type": "parallel",
        "/states/draft/states": { h: { type: "history" } },
      },
      ["/states/draft/type missing_states"],
    ],
    [
      "atomic with states",
      { "/states/review/type": "atomic" },
      [
        "/states/review/initial initial_not_allowed",
        "/states/review/onDone misplaced_key",
        "/states/review/type misplaced_states",
      ],
    ],
    [
      "final with states",
      { "/states/paid/states": { a: {} } },
      ["/states/paid/states misplaced_key"],
    ],
    [
      "history with transitions",
      { "/states/h": { type: "history", on: {}, entry: [] } },
      ["/states/h/on misplaced_key", "/states/h/entry misplaced_key"],
    ],
    [
      "history of an unknown depth",
      { "/states/h": { history: "medium" } },
      ["/states/h/history invalid_value"],
    ],
    [
      "history that is false",
      { "/states/h": { type: "history", history: false } },
      ["/states/h/history invalid_value"],
    ],
  ])("refuses %s", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("history may be shallow, deep or true, with a target or without", () => {
    for (const history of [
      { type: "history" },
      { history: "deep" },
      { history: true },
      { type: "history", history: "shallow", target: "second" },
      { type: "history", target: "#loan.review.second" },
    ]) {
      expect(errorsWith({ "/states/review/states/h": history })).toEqual([]);
    }
  });
});

describe("ids", () => {
  test.each<Case>([
    ["none of the machine", { "/id": undefined }, [" missing_id"]],
    ["an empty one of the machine", { "/id": "" }, ["/id invalid_id"]],
    ["one of the machine with spaces", { "/id": "my loan" }, ["/id invalid_id"]],
    ["one of the machine that is too long", { "/id": "x".repeat(201) }, ["/id invalid_id"]],
    ["an empty one of a state", { "/states/draft/id": "" }, ["/states/draft/id invalid_id"]],
    [
      "one of a state that is no string",
      { "/states/draft/id": 7 },
      ["/states/draft/id invalid_id"],
    ],
    ["one of a state with '#'", { "/states/draft/id": "#draft" }, ["/states/draft/id invalid_id"]],
    [
      "one that is too long",
      { "/states/draft/id": "x".repeat(LIMITS.nameChars + 1) },
      ["/states/draft/id invalid_id"],
    ],
    [
      "the same one twice",
      { "/states/draft/id": "x", "/states/paid/id": "x" },
      ["/states/paid/id duplicate_id"],
    ],
    [
      "one that another state has by its place",
      { "/states/paid/id": "loan.draft" },
      ["/states/paid/id duplicate_id"],
    ],
    [
      "one by its place that another state has",
      { "/states/draft/id": "loan.paid" },
      ["/states/paid duplicate_id"],
    ],
    ["the machine's own", { "/states/draft/id": "loan" }, ["/states/draft/id duplicate_id"]],
  ])("refuses %s", (_, changes, errors) => {
    expect(errorsWith(changes)).toEqual(errors);
  });

  test("one at the limit is accepted", () => {
    expect(
      errorsWith({ "/states/draft/id": "x".repeat(LIMITS.nameChars), "/id": "y".repeat(200) }),
    ).toEqual([]);
  });
});

describe("keys of states", () => {
  test.each([
    "",
    "a.b",
    "#a",
    "@a",
    "a\\b",
    "a\nb",
    "a\u0000",
    "x".repeat(LIMITS.stateKeyChars + 1),
  ])("%j is refused", (key) => {
    expect(errorsWith({ [`/states/${key}`]: {} })).toEqual([`/states/${key} invalid_state_key`]);
  });

  test("__proto__ is refused", () => {
    expect(errorsWith({ "/states/__proto__": {} })).toEqual([
      "/states/__proto__ invalid_state_key",
    ]);
  });

  test.each([
    "a b",
    "waiting for the manager",
    "ä",
    "1",
    "a#b",
    "a@b",
    "*",
    "a/b",
    "x".repeat(LIMITS.stateKeyChars),
  ])("%j is accepted", (key) => {
    expect(errorsWith({ [`/states/${key.replaceAll("/", "~1")}`]: {} })).toEqual([]);
  });
});

describe("timers that XState cannot tell apart", () => {
  test("are refused", () => {
    expect(
      errorsWith({
        "/delays": { PATIENCE: 1, x: 1, "x.loan": 1 },
        "/states/draft/after": { x: "paid" },
        "/states/paid": { id: "draft", after: { "x.loan": "expired" } },
        "/states/draft/on": {},
      }),
    ).toEqual(["/states/paid/after/x.loan ambiguous_timer"]);
  });
});
