import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { activityFate } from "../../src/machine/land-activities.ts";
import type { StateValue } from "../../src/machine/types.ts";

const version = (states: JsonObject, more: JsonObject = {}): CompiledMachine =>
  compileDefinition({ id: "m", initial: "a", states, ...more });
const runs = (id: string, src = "http"): JsonObject => ({
  id,
  src,
  input: { url: "https://a.b/" },
});

/** `<id>@<old state>-><new state>` of what is kept, `<id>@<state>` of the rest. */
function fate(from: CompiledMachine, to: CompiledMachine, old: StateValue, value: StateValue) {
  const { kept, cancelled, started } = activityFate(from, to, old, value);
  return {
    kept: kept.map((one) => `${one.from.id}@${one.from.state}->${one.to.state}`),
    cancelled: cancelled.map(({ id, state }) => `${id}@${state}`),
    started: started.map(({ id, state }) => `${id}@${state}`),
  };
}

describe("activities of a state value that landed", () => {
  test("are kept by id and source, and else cancelled or started", () => {
    const old = version({ a: { invoke: [runs("same"), runs("gone"), runs("other", "task")] } });
    const young = version(
      { b: { invoke: [runs("new"), runs("other"), runs("same")] } },
      { initial: "b" },
    );
    expect(fate(old, young, "a", "b")).toEqual({
      kept: ["same@a->b"],
      cancelled: ["gone@a", "other@a"],
      started: ["new@b", "other@b"],
    });
  });

  test("are kept where another state, above or below, invokes them now", () => {
    const leaf = version({ a: { initial: "x", states: { x: { invoke: runs("one") } } } });
    const above = version({ a: { initial: "x", invoke: runs("one"), states: { x: {} } } });
    const value = { a: "x" };
    expect(fate(leaf, above, value, value).kept).toEqual(["one@a.x->a"]);
    expect(fate(above, leaf, value, value).kept).toEqual(["one@a->a.x"]);
  });

  test("that have no id of their own begin anew in another version, and go on in their own", () => {
    const nameless: JsonObject = { src: "http", input: { url: "https://a.b/" } };
    const old = version({ a: { invoke: nameless } });
    const young = version({ a: { invoke: nameless } });
    expect(fate(old, young, "a", "a")).toEqual({
      kept: [],
      cancelled: ["0.a@a"],
      started: ["0.a@a"],
    });
    expect(fate(old, old, "a", "a").kept).toEqual(["0.a@a->a"]);
    const named = version({ a: { invoke: runs("0.a") } });
    expect(fate(old, named, "a", "a").kept).toEqual([]);
  });

  test("of states that are not active are nobody's", () => {
    const old = version({ a: { on: { GO: "b" } }, b: { invoke: runs("one") } });
    const young = version({ a: {}, b: { invoke: runs("one") } });
    expect(fate(old, young, "a", "a")).toEqual({ kept: [], cancelled: [], started: [] });
    expect(fate(old, young, "a", "b").started).toEqual(["one@b"]);
    expect(fate(old, young, "b", "a").cancelled).toEqual(["one@b"]);
  });

  test("of regions and the root go each their way", () => {
    const region = (id: string): JsonObject => ({
      initial: "x",
      states: { x: { invoke: runs(id) } },
    });
    const parallel = (one: string, two: string): CompiledMachine =>
      compileDefinition({
        id: "m",
        type: "parallel",
        invoke: runs("root"),
        states: { one: region(one), two: region(two) },
      });
    const value = { one: "x", two: "x" };
    expect(fate(parallel("p", "q"), parallel("q", "r"), value, value)).toEqual({
      kept: ["root@->", "q@two.x->one.x"],
      cancelled: ["p@one.x"],
      started: ["r@two.x"],
    });
  });
});
