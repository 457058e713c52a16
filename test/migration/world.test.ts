import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { implementations } from "../../src/implementations/index.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import type { Implementations } from "../../src/machine/implementations.ts";
import { referenceLife, referenceOfInputs } from "../support/migration-reference.ts";
import { anyWorlds, definitionOf } from "../support/migration-world.ts";

/** What activities of these worlds name as their sources. */
const inCode: Implementations = {
  ...implementations,
  sources: { book: async () => null, ship: async () => null },
};

describe("the worlds that moving is tried in", () => {
  it("are made of definitions that can be deployed, and move actors often enough", () => {
    let moved = 0;
    let late = 0;
    let done = 0;
    fc.assert(
      fc.property(anyWorlds(true), (world) => {
        for (const version of world.versions) {
          expect(checkDefinition(definitionOf(version), inCode).errors).toEqual([]);
        }
        const { version, inputs } = referenceLife(world);
        if (version !== "v1") moved += 1;
        if (inputs.some(({ dueAt, version: by }) => dueAt !== null && by !== "v1")) late += 1;
        if (inputs.some(({ type, version: by }) => type.startsWith("@done:") && by !== "v1")) {
          done += 1;
        }
      }),
      { numRuns: 500 },
    );
    expect(moved).toBeGreaterThan(100);
    expect(late).toBeGreaterThan(20);
    expect(done).toBeGreaterThan(5);
  });

  it("show the theorem in the reference itself: without stops, visits change nothing", () => {
    fc.assert(
      fc.property(anyWorlds(false), (world) => {
        const lived = referenceLife(world);
        expect(referenceOfInputs(world, lived.inputs)).toEqual(lived);
      }),
      { numRuns: 5_000 },
    );
  });
});
