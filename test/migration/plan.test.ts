import { describe, expect, it } from "vitest";
import { mergeClasses, planOf, samplesOf } from "../../src/migration/plan.ts";
import type { ClassLanding, DecidedClass } from "../../src/migration/plan.ts";

const NONE = { match: [], pending: [], diverged: [], near: [] };

function decided(stateValue: string, over: Partial<DecidedClass> = {}): DecidedClass {
  return { stateValue, match: 0, pending: 0, diverged: 0, near: 0, samples: NONE, ...over };
}

const to = (stateValue: string, kept = 0, cancelled = 0, started = 0): ClassLanding => ({
  ok: true,
  stateValue,
  timers: { kept, cancelled, started },
  activities: { kept: started, cancelled: kept, started: cancelled },
});

describe("what shards say", () => {
  it("is summed up by state, with samples of all up to as many as asked for", () => {
    const merged = mergeClasses(
      [
        [decided("b", { match: 2, samples: { ...NONE, match: ["1", "2"] } }), decided("a")],
        [decided("b", { match: 1, pending: 4, near: 1, samples: { ...NONE, match: ["3", "4"] } })],
        [],
      ],
      3,
    );
    expect(merged).toEqual([
      decided("a"),
      decided("b", {
        match: 3,
        pending: 4,
        near: 1,
        samples: { ...NONE, match: ["1", "3", "4"] },
      }),
    ]);
  });

  it("has samples from all over many shards", () => {
    const shards = Array.from({ length: 16 }, (_, shard) => [
      decided("a", {
        match: 9,
        samples: { ...NONE, match: Array.from({ length: 5 }, (_one, n) => `${shard}.${n}`) },
      }),
    ]);
    const [merged] = mergeClasses(shards, 5);
    expect(merged?.samples.match).toEqual(["1.0", "4.0", "8.0", "11.0", "14.0"]);
    expect(mergeClasses(shards, 20)[0]?.samples.match).toEqual([
      ...Array.from({ length: 16 }, (_, shard) => `${shard}.0`),
      "2.1",
      "6.1",
      "10.1",
      "14.1",
    ]);
    const one = mergeClasses([[], ...shards.slice(0, 1), []], 3);
    expect(one[0]?.samples.match).toEqual(["0.0", "0.1", "0.2"]);
  });

  it("of actors in one state and of different status is one class", () => {
    const merged = mergeClasses([[decided("a", { match: 1 }), decided("a", { match: 2 })]], 1);
    expect(merged).toEqual([decided("a", { match: 3 })]);
  });
});

describe("a plan", () => {
  it("counts, lists by state, and multiplies what becomes of timers and activities", () => {
    const plan = planOf(
      "v1",
      [
        {
          ...decided("docs", { match: 3, pending: 1, diverged: 7, near: 2 }),
          landing: to("docs", 1, 0, 2),
        },
        {
          ...decided("gone", { match: 2, samples: { ...NONE, match: ["x", "y"] } }),
          landing: { ok: false, reason: "state_missing: no such state." },
        },
        { ...decided("info", { pending: 5 }), landing: null },
      ],
      { states: 10, samples: 1 },
    );
    expect(plan).toEqual({
      total: 18,
      match: 5,
      pending: 6,
      diverged: 7,
      nearMisses: 2,
      byState: [
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: null,
          count: 7,
          class: "diverged",
        },
        {
          definitionId: "v1",
          stateValue: "info",
          targetStateValue: null,
          count: 5,
          class: "pending",
        },
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: "docs",
          count: 3,
          class: "match",
        },
        {
          definitionId: "v1",
          stateValue: "gone",
          targetStateValue: null,
          count: 2,
          class: "match",
        },
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: null,
          count: 1,
          class: "pending",
        },
      ],
      unmappable: [
        { stateValue: "gone", reason: "state_missing: no such state.", count: 2, sampleIds: ["x"] },
      ],
      unmappableTotal: 2,
      timers: { kept: 3, cancelled: 0, started: 6 },
      activities: { kept: 6, cancelled: 3, started: 0 },
      sampleIds: { match: ["x"], pending: [], diverged: [], nearMisses: [] },
    });
  });

  it("lists the largest lines, and sums up the rest", () => {
    const classes = [3, 9, 1].map((match) => ({
      ...decided(`s${match}`, { match }),
      landing: { ok: false, reason: "no" } as const,
    }));
    const plan = planOf("v1", classes, { states: 2, samples: 5 });
    expect(plan.byState.map(({ count }) => count)).toEqual([9, 3]);
    expect(plan.others).toBe(1);
    expect(plan.unmappable.map(({ count }) => count)).toEqual([9, 3]);
    expect(plan.unmappableTotal).toBe(13);
  });

  it("takes samples of all states in turn", () => {
    const classes = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]].map((match, index) =>
      decided(`s${index}`, { samples: { ...NONE, match } }),
    );
    expect(samplesOf(classes, "match", 5)).toEqual(["a1", "b1", "c1", "a2", "c2"]);
    expect(samplesOf(classes, "match", 2)).toEqual(["a1", "c1"]);
    expect(samplesOf([], "match", 2)).toEqual([]);
  });
});
