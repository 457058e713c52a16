import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { landHistory } from "../../src/machine/land-history.ts";
import { landingOf } from "../../src/machine/landing.ts";
import type { StateMapping } from "../../src/machine/landing.ts";
import type { StateValue } from "../../src/machine/types.ts";

const machine = (states: JsonObject, more: JsonObject = {}) =>
  compileDefinition({ id: "m", initial: Object.keys(states)[0] as string, ...more, states });
const one = { initial: "a", states: { a: {}, b: {} } };
const ends = { initial: "a", states: { a: {}, end: { type: "final" } } };

const old = machine({
  form: { ...one, initial: "a" },
  both: { type: "parallel", states: { p: one, q: ends } },
  away: {},
  over: { type: "final" },
});
const renamed = machine({
  page: one,
  pair: { type: "parallel", states: { left: one, right: ends } },
  gone: {},
  rest: {},
  three: { type: "parallel", states: { p: one, q: one, r: {} } },
  over: { type: "final" },
  h: { type: "history" },
});

describe("a state value lands", () => {
  const cases: [string, StateValue, StateMapping, StateValue][] = [
    ["on the state of its key", "away", { away: "gone" }, "gone"],
    ["below the state of its parent's key", { form: "b" }, { form: "page" }, { page: "b" }],
    [
      "by the longest key",
      { form: "b" },
      { "": "gone", form: "three", "form.b": "page.a" },
      { page: "a" },
    ],
    ["without its parent", { form: "b" }, { "form.b": "rest" }, "rest"],
    ["with its children", "away", { away: "page.b" }, { page: "b" }],
    [
      "in all regions",
      { both: { p: "b", q: "end" } },
      { both: "pair", "both.p": "pair.left", "both.q": "pair.right" },
      { pair: { left: "b", right: "end" } },
    ],
    [
      "in several regions, in document order",
      "away",
      { away: ["three.r", "three.q.b", "three.p.a"] },
      { three: { p: "a", q: "b", r: {} } },
    ],
    [
      "in regions by a list for a parent",
      { form: "b" },
      { form: ["three.p", "three.q"], "form.b": ["three.p.b", "three.q.b", "three.r"] },
      { three: { p: "b", q: "b", r: {} } },
    ],
    [
      "on one state from several",
      { both: { p: "a", q: "end" } },
      { "both.p.a": "gone", "both.q.end": "gone" },
      "gone",
    ],
  ];
  test.each(cases)("%s", (_, value, mapping, expected) => {
    const landing = landingOf(old, renamed, value, mapping);
    expect(landing).toMatchObject({ ok: true });
    expect(landing.ok && JSON.stringify(landing.value)).toBe(JSON.stringify(expected));
  });

  test("under a root that was wrapped, and back", () => {
    const wrapped = machine({ all: { ...one } });
    const plain = machine({ a: {}, b: {} });
    expect(landingOf(plain, wrapped, "b", { "": "all" })).toMatchObject({ value: { all: "b" } });
    expect(landingOf(wrapped, plain, { all: "b" }, { all: "" })).toMatchObject({ value: "b" });
  });
});

describe("a state value does not land", () => {
  const both = { both: { p: "a", q: "a" } };
  const cases: [string, StateValue, StateMapping, string][] = [
    ["on a state that is gone", "away", {}, "state_missing"],
    ["on a path that leads on below a leaf", { form: "b" }, { form: "gone" }, "state_missing"],
    ["on a history state", "away", { away: "h" }, "state_missing"],
    ["nowhere", "away", { away: [] }, "state_missing"],
    ["on a compound state", "away", { away: "page" }, "state_has_children"],
    ["on a parallel state", "away", { away: "pair" }, "state_has_children"],
    ["on the root", "away", { away: "" }, "state_has_children"],
    ["in one region of two", "away", { away: "pair.left.a" }, "region_missing"],
    ["in a region that is new", both, { both: "three", "both.q": "three.q" }, "region_missing"],
    ["in two children", both, { "both.p": "page", "both.q.a": "page.b" }, "states_clash"],
    ["in two at the top", both, { "both.p.a": "gone", "both.q.a": "rest" }, "states_clash"],
    ["on a final state", "away", { away: "over" }, "state_final"],
    [
      "where a region ends",
      both,
      { both: "pair", "both.p": "pair.left", "both.q.a": "pair.right.end" },
      "state_final",
    ],
    ["where the machine ends", both, { "both.p.a": "over", "both.q.a": "over" }, "state_final"],
  ];
  test.each(cases)("%s", (_, value, mapping, code) => {
    const landing = landingOf(old, renamed, value, mapping);
    expect(landing).toMatchObject({ ok: false, code });
    expect(!landing.ok && landing.message).toMatch(/\.$/);
  });

  test("where final states that were inside end the machine", () => {
    const inside = machine({ form: ends });
    const flat = machine({ a: {}, end: { type: "final" } });
    const landing = landingOf(inside, flat, { form: "end" }, { form: "" });
    expect(landing).toMatchObject({ ok: false, code: "state_final" });
  });

  test("from a value that its own definition does not have", () => {
    for (const value of ["nowhere", { form: "x" }, {}, "__proto__"]) {
      expect(landingOf(old, old, value as StateValue, {})).toMatchObject({ ok: false });
    }
  });
});

describe("old and new states of a landing", () => {
  const landing = landingOf(
    old,
    renamed,
    { both: { p: "b", q: "end" } },
    { both: "pair", "both.p": "pair.left", "both.q": "pair.right" },
  );
  test("find each other", () => {
    if (!landing.ok) throw new Error(landing.message);
    expect(landing.pathOf("")).toEqual([""]);
    expect(landing.pathOf("both")).toEqual(["pair"]);
    expect(landing.pathOf("both.p")).toEqual(["pair.left"]);
    expect(landing.pathOf("both.p.b")).toEqual(["pair.left.b"]);
    expect(landing.oldOf("pair.right.end")).toEqual(["both.q.end"]);
    expect(landing.oldOf("pair")).toEqual(["both"]);
  });

  test("are nowhere where they are not active", () => {
    if (!landing.ok) throw new Error(landing.message);
    expect(landing.pathOf("both.p.a")).toEqual([]);
    expect(landing.pathOf("away")).toEqual([]);
    expect(landing.pathOf("__proto__")).toEqual([]);
    expect(landing.oldOf("page")).toEqual([]);
    const merged = landingOf(old, renamed, { form: "b" }, { "form.b": "gone" });
    expect(merged.ok && merged.pathOf("form")).toEqual([]);
    expect(merged.ok && merged.oldOf("gone")).toEqual(["form.b"]);
  });
});

describe("what history states remember", () => {
  const histories = { last: { type: "history" }, exact: { type: "history", history: "deep" } };
  const inner = { initial: "x", states: { x: one, y: {}, ...histories } };
  const from = machine({ away: {}, form: inner });
  const to = machine({
    away: {},
    page: inner,
    split: { type: "parallel", states: { s: inner, t: inner } },
  });
  const cases: [string, JsonObject, StateMapping, JsonObject, string[]][] = [
    [
      "follows its parent",
      { "form.last": ["form.x"] },
      { form: "page" },
      { "page.last": ["page.x"] },
      [],
    ],
    [
      "is mapped leaf by leaf",
      { "form.exact": ["form.x.b"] },
      { form: "page", "form.x.b": "page.y" },
      { "page.exact": ["page.y"] },
      [],
    ],
    [
      "is dropped where the history state is gone",
      { "form.last": ["form.x"] },
      {},
      {},
      ["form.last"],
    ],
    [
      "is dropped where the state has gone elsewhere",
      { "form.last": ["form.y"] },
      { form: "page", "form.y": "away" },
      {},
      ["form.last"],
    ],
    [
      "is dropped where a deep one becomes shallow",
      { "form.exact": ["form.x.b"], "form.last": ["form.x"] },
      { form: "page", "form.exact": "page.last", "form.last": "page.exact" },
      {},
      ["form.exact", "form.last"],
    ],
    [
      "goes into both of two",
      { "form.last": ["form.y"] },
      { form: ["split.s", "split.t"] },
      { "split.s.last": ["split.s.y"], "split.t.last": ["split.t.y"] },
      [],
    ],
    [
      "is dropped where another one's stands already",
      { "form.exact": ["form.y"], "form.last": ["form.y"] },
      { form: "page", "form.last": "page.exact" },
      { "page.exact": ["page.y"] },
      ["form.last"],
    ],
    [
      "is dropped where nobody knows it",
      { toString: ["form.x"], "form.last": ["form.z"] },
      { form: "page" },
      {},
      ["toString", "form.last"],
    ],
  ];
  test.each(cases)("%s", (_, history, mapping, expected, dropped) => {
    const landed = landHistory(from, to, history as Record<string, string[]>, mapping);
    expect(landed).toEqual({ history: expected, dropped });
  });
});
