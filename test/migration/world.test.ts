import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkDefinition } from "../../src/machine/check.ts";
import { referenceLife, referenceOfInputs } from "../support/migration-reference.ts";
import { definitionOf, worlds } from "../support/migration-world.ts";

describe("the worlds that moving is tried in", () => {
  it("are made of definitions that can be deployed, and move actors often enough", () => {
    let moved = 0;
    let late = 0;
    fc.assert(
      fc.property(worlds(true), (world) => {
        for (const version of world.versions) {
          expect(checkDefinition(definitionOf(version)).errors).toEqual([]);
        }
        const { version, inputs } = referenceLife(world);
        if (version !== "v1") moved += 1;
        if (inputs.some(({ dueAt, version: by }) => dueAt !== null && by !== "v1")) late += 1;
      }),
      { numRuns: 500 },
    );
    expect(moved).toBeGreaterThan(100);
    expect(late).toBeGreaterThan(20);
  });

  it("show the theorem in the reference itself: without stops, visits change nothing", () => {
    fc.assert(
      fc.property(worlds(false), (world) => {
        const lived = referenceLife(world);
        expect(referenceOfInputs(world, lived.inputs)).toEqual(lived);
      }),
      { numRuns: 5_000 },
    );
  });
});
