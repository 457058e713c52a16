import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { PerdureError } from "../../src/base/errors.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { readSnapshot } from "../../src/machine/snapshot.ts";

const regions = {
  p: { initial: "a", states: { a: { on: { NEXT: "b" } }, b: { on: { NEXT: "a" } } } },
  q: { initial: "a", states: { a: { on: { NEXT: "b" } }, b: {} } },
};
const config = {
  id: "m",
  initial: "form",
  states: {
    form: {
      initial: "one",
      on: { AWAY: "away" },
      states: {
        one: { on: { NEXT: "two" } },
        two: { initial: "x", states: { x: { on: { NEXT: "y" } }, y: {} } },
        last: { type: "history" },
        exact: { type: "history", history: "deep" },
      },
    },
    both: {
      type: "parallel",
      on: { AWAY: "away" },
      states: {
        ...regions,
        last: { type: "history" },
        exact: { type: "history", history: "deep" },
      },
    },
    away: {
      on: { LAST: "form.last", EXACT: "form.exact", BOTH: "both.last", BOTH_EXACT: "both.exact" },
    },
  },
};
const machine = compileDefinition(config);

function pointersOf(compiled: CompiledMachine, snapshot: JsonObject): string[] {
  try {
    readSnapshot(compiled, snapshot);
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    expect(error.failure.code).toBe("snapshot_invalid");
    return (error.failure.errors ?? []).map(({ pointer }) => pointer);
  }
  return [];
}

describe("a remembered history", () => {
  const at = (id: string, ...targets: string[]): JsonObject => ({
    value: "away",
    historyValue: { [`m.${id}`]: targets.map((target) => ({ id: `m.${target}` })) },
  });
  const fit: [string, JsonObject][] = [
    ["the child that was active", at("form.last", "form.two")],
    ["the leaf that was active", at("form.exact", "form.two.y")],
    ["a child that is a leaf", at("form.exact", "form.one")],
    ["all regions", at("both.last", "both.p", "both.q")],
    ["a leaf of each region", at("both.exact", "both.q.b", "both.p.a")],
  ];
  test.each(fit)("leads back to %s", (_, snapshot) => {
    expect(pointersOf(machine, snapshot)).toEqual([]);
  });

  const unfit: [string, JsonObject][] = [
    ["nothing", at("form.last")],
    ["no list", { value: "away", historyValue: { "m.form.last": "m.form.one" } }],
    ["items without an id", { value: "away", historyValue: { "m.form.last": [null, {}] } }],
    ["two children at once", at("form.last", "form.one", "form.two")],
    ["one child twice", at("form.last", "form.one", "form.one")],
    ["a grandchild of a shallow one", at("form.last", "form.two.y")],
    ["another history state", at("form.last", "form.exact")],
    ["a state that has states, deep", at("form.exact", "form.two")],
    ["two leaves of one state", at("form.exact", "form.two.x", "form.two.y")],
    ["its own parent", at("form.last", "form")],
    ["a state elsewhere", at("form.last", "away")],
    ["one state here and one elsewhere", at("form.last", "form.one", "away")],
    ["one region of two", at("both.last", "both.p")],
    ["a region's leaf of two", at("both.exact", "both.p.a")],
  ];
  test.each(unfit)("cannot lead back to %s", (_, snapshot) => {
    const [id] = Object.keys(snapshot["historyValue"] as JsonObject);
    expect(pointersOf(machine, snapshot)).toEqual([`/historyValue/${id}`]);
  });
});

describe("a finished machine", () => {
  const final = { initial: "x", states: { x: {}, y: { type: "final" } } };
  const parallel = compileDefinition({ id: "m", type: "parallel", states: { p: final, q: final } });

  test("cannot be adopted, its regions done or itself", () => {
    expect(pointersOf(parallel, { value: { p: "y", q: "y" } })).toEqual(["/value"]);
    expect(pointersOf(compileDefinition({ id: "m", ...final }), { value: "y" })).toEqual([
      "/value",
    ]);
  });

  test("is not one with a region that goes on", () => {
    expect(pointersOf(parallel, { value: { p: "y", q: "x" } })).toEqual([]);
  });

  test("is not one whose state within is done", () => {
    const within = { id: "m", initial: "p", states: { p: final } };
    expect(pointersOf(compileDefinition(within), { value: { p: "y" } })).toEqual([]);
  });
});

test("everything that XState persists of its own actors is taken", () => {
  const types = ["NEXT", "AWAY", "LAST", "EXACT", "BOTH", "BOTH_EXACT"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...types), { maxLength: 15 }), (events) => {
      const actor = createActor(machine.xstate.provide({}), {
        // The machine's own start needs a step under way; XState's state alone does not.
        snapshot: { status: "active", value: { form: "one" }, context: {}, children: {} } as never,
      }).start();
      for (const type of events) actor.send({ type });
      const persisted = JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as JsonObject;
      expect(pointersOf(machine, { ...persisted, context: {} })).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test("whatever is sent is refused or stands where a machine can stand, and goes on", () => {
  const key = fc.constantFrom("form", "both", "away", "p", "q", "one", "two", "x", "a", "last");
  const { any } = fc.letrec<{ any: JsonValue }>((tie) => ({
    any: fc.oneof(key, fc.dictionary(key, tie("any")), fc.constantFrom(null, 1, "__proto__")),
  }));
  const value = fc.oneof(any, fc.constantFrom("away", { both: { p: "b", q: "a" } }));
  const ids = ["m", ...[...machine.nodes.keys()].map((path) => `m.${path}`)];
  const history = fc.dictionary(
    fc.constantFrom("m.form.last", "m.form.exact", "m.both.last", "m.both.exact"),
    fc.array(fc.record({ id: fc.constantFrom(...ids) }), { maxLength: 3 }),
  );
  let taken = 0;
  fc.assert(
    fc.property(value, history, (given, historyValue) => {
      const snapshot: JsonObject = { value: given, historyValue };
      if (pointersOf(machine, snapshot).length > 0) return;
      taken += 1;
      const birth = { uid: "0", definitionId: "m", definitionHash: "", snapshot };
      const address = { tenant: "t", id: "a" };
      let last: Advanced = beginActor(address, machine, birth, 1_000, NO_ORIGIN);
      for (const type of ["AWAY", "LAST", "AWAY", "BOTH_EXACT"]) {
        if (!last.ok) throw new Error(last.fault.message);
        last = advance(last.actor, { kind: "event", type, payload: null }, 1_000, NO_ORIGIN);
      }
      if (!last.ok) throw new Error(last.fault.message);
      expect(pointersOf(machine, { value: last.record.stateValue as JsonValue })).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(20);
});

test("thousands of problems are counted, not listed", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n]));
  expect(pointersOf(machine, { value: "away", ...many })).toHaveLength(LIMITS.problemsPerAnswer);
});
