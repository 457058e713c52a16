import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { diffDefinitions } from "../../src/machine/diff.ts";
import { definitions } from "../support/charts.ts";
import { edited } from "../support/edit.ts";

const NOTHING = {
  statesAdded: [],
  statesRemoved: [],
  transitionsChanged: [],
  initialChanged: [],
};

const loan: JsonObject = {
  id: "loan",
  initial: "draft",
  states: {
    draft: { on: { SUBMIT: "review" } },
    review: {
      initial: "first",
      after: { 86400000: "expired" },
      states: { first: { on: { OK: "second" } }, second: {} },
      onDone: "paid",
    },
    paid: { type: "final" },
    expired: { type: "final" },
  },
};

describe("diffDefinitions", () => {
  test("finds nothing between a definition and itself", () => {
    fc.assert(
      fc.property(definitions("everything"), (definition) => {
        expect(diffDefinitions(definition, structuredClone(definition))).toEqual(NOTHING);
      }),
      { numRuns: 100 },
    );
  });

  test("names states by their paths, in document order", () => {
    const to = edited(loan, {
      "/states/review/states/third": {},
      "/states/expired": undefined,
      "/states/closed": { states: { deep: {} }, initial: "deep" },
    });
    const diff = diffDefinitions(loan, to);
    expect(diff.statesAdded).toEqual(["review.third", "closed", "closed.deep"]);
    expect(diff.statesRemoved).toEqual(["expired"]);
  });

  test("shows a changed, a new and a removed transition of a state that is in both", () => {
    const to = edited(loan, {
      "/states/draft/on": { SUBMIT: { target: "review", guard: "complete" }, CANCEL: {} },
      "/states/review/states/first/on": undefined,
    });
    expect(diffDefinitions(loan, to).transitionsChanged).toEqual([
      {
        state: "draft",
        event: "SUBMIT",
        from: { target: "review" },
        to: { target: "review", guard: { type: "complete" } },
      },
      { state: "draft", event: "CANCEL", from: null, to: {} },
      { state: "review.first", event: "OK", from: { target: "second" }, to: null },
    ]);
  });

  test("names transitions without an event by words that no event can be", () => {
    const to = edited(loan, {
      "/states/review/after": { 1000: "expired" },
      "/states/review/onDone": "expired",
      "/states/review/always": { target: "paid", guard: { "@expr": "true" } },
      "/states/review/invoke": [{ id: "scan", src: "http", onDone: "paid", onError: "expired" }],
    });
    const events = diffDefinitions(loan, to).transitionsChanged.map(({ event }) => event);
    expect(events.sort()).toEqual([
      "@always",
      "@done",
      "@done:scan",
      "@error:scan",
      "@timer:1000",
      "@timer:86400000",
    ]);
  });

  test("takes no notice of how a transition is written", () => {
    const ways: JsonValue[] = [
      "review",
      { target: "review" },
      { target: ["review"] },
      ["review"],
      [{ target: "review" }],
      { target: "review", reenter: false, actions: [], description: "on it goes", meta: { n: 1 } },
    ];
    for (const way of ways) {
      const to = edited(loan, { "/states/draft/on/SUBMIT": way });
      expect(diffDefinitions(loan, to)).toEqual(NOTHING);
    }
    const named = edited(loan, { "/states/draft/on/SUBMIT": { guard: "g", actions: "a" } });
    const written = edited(loan, {
      "/states/draft/on/SUBMIT": [{ actions: [{ type: "a" }], guard: { type: "g" } }],
    });
    expect(diffDefinitions(named, written)).toEqual(NOTHING);
  });

  test("tells a forbidden event from one that is not mentioned", () => {
    const to = edited(loan, { "/states/paid/on": { SUBMIT: {} } });
    expect(diffDefinitions(loan, to).transitionsChanged).toEqual([
      { state: "paid", event: "SUBMIT", from: null, to: {} },
    ]);
  });

  test("shows changed initials, also of the root and where there was none", () => {
    const to = edited(loan, {
      "/initial": "review",
      "/states/review/initial": "second",
      "/states/draft/initial": "a",
      "/states/draft/states": { a: {} },
    });
    expect(diffDefinitions(loan, to).initialChanged).toEqual([
      { state: "", from: "draft", to: "review" },
      { state: "draft", from: null, to: "a" },
      { state: "review", from: "first", to: "second" },
    ]);
  });

  test("names results of activities by their ids, those that XState makes too", () => {
    const results = (onDone: string) => [
      { id: "charge", src: "http", onDone, onError: "paid" },
      { src: "http", onDone },
    ];
    const at = "/states/draft/invoke";
    const one = edited(loan, { [at]: results("review") });
    const other = edited(loan, { [at]: results("paid") });
    const change = { state: "draft", from: { target: "review" }, to: { target: "paid" } };
    expect(diffDefinitions(one, other).transitionsChanged).toEqual([
      { ...change, event: "@done:charge" },
      { ...change, event: "@done:1.draft" },
    ]);
  });

  test("is the other way round when the definitions change places", () => {
    fc.assert(
      fc.property(definitions("events"), definitions("events"), (one, other) => {
        const there = diffDefinitions(one, other);
        const back = diffDefinitions(other, one);
        expect(back.statesAdded).toEqual(there.statesRemoved);
        expect(back.statesRemoved).toEqual(there.statesAdded);
        const turned = there.transitionsChanged.map(({ from, to, ...rest }) => ({
          ...rest,
          from: to,
          to: from,
        }));
        expect(new Set(back.transitionsChanged.map((change) => JSON.stringify(change)))).toEqual(
          new Set(turned.map((change) => JSON.stringify(change))),
        );
      }),
      { numRuns: 100 },
    );
  });

  test("treats keys such as __proto__ and constructor as data", () => {
    const from = JSON.parse(
      '{"id":"m","on":{"__proto__":".a"},"states":{"constructor":{}}}',
    ) as JsonObject;
    const to = JSON.parse('{"id":"m","on":{"toString":".a"},"states":{}}') as JsonObject;
    const diff = diffDefinitions(from, to);
    expect(diff.statesRemoved).toEqual(["constructor"]);
    expect(diff.transitionsChanged.map(({ event }) => event)).toEqual(["__proto__", "toString"]);
  });
});
