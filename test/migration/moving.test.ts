import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActivityNotes } from "../../src/lifecycle/carry-activities.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { drivenLife } from "../support/migration-driver.ts";
import type { Driven } from "../support/migration-driver.ts";
import { referenceLife, referenceOfInputs } from "../support/migration-reference.ts";
import type { Lived } from "../support/migration-reference.ts";
import type { Happening, World } from "../support/migration-world.ts";
import { anyWorlds } from "../support/migration-world.ts";

const RUNS = 1_000;
const FATES = ["kept", "cancelled", "started"] as const;

describe("an actor that rules move", () => {
  it("is moved as the reference says, whatever rules, stops, visits and crashes there are", () => {
    fc.assert(
      fc.property(anyWorlds(true), (world) => {
        expect(lived(drivenLife(world))).toEqual(referenceLife(world));
      }),
      { numRuns: RUNS },
    );
  });

  it("has its records handled by versions that follow from records and rule changes alone", () => {
    fc.assert(
      fc.property(anyWorlds(false), (world) => {
        const driven = lived(drivenLife(world));
        expect(driven).toEqual(referenceOfInputs(world, driven.inputs));
      }),
      { numRuns: RUNS },
    );
  });

  it("lets timers fire first that are due before a rule is in force, though a visit hears of it earlier", () => {
    const idle = { on: {}, after: { delayMs: 1_500, to: "closed" } };
    const closed = { on: {}, after: null };
    const rule = { id: "r_0", from: "v1", to: "v2", since: "birth", stateMapping: {} } as const;
    const world: World = {
      uid: "0".repeat(32),
      versions: ["v1", "v2"].map((id) => ({ id, states: { idle, closed } })),
      changes: [
        {
          at: 15,
          kind: "deploy",
          rule: { ...rule, match: "all", historyPath: [] },
          percent: 100,
          replaces: null,
        },
      ],
      happenings: [],
    };
    const visited = { ...world, happenings: [{ at: 20, epoch: 1, kind: "visit" as const }] };
    for (const one of [world, visited]) {
      const { inputs, version } = drivenLife(one);
      expect(inputs).toMatchObject([{ type: "@timer:idle:1500", version: "v1" }]);
      expect(version).toBe("v2");
    }
  });

  it("is the same whether visits are repeated, left out, or cut off, where no timer is at work", () => {
    fc.assert(
      fc.property(anyWorlds(false), fc.array(fc.boolean(), { maxLength: 25 }), (world, kept) => {
        const still = world.versions.map(({ id, states }) => ({
          id,
          states: Object.fromEntries(
            Object.entries(states).map(([name, state]) => [name, { ...state, after: null }]),
          ),
        }));
        const happenings = world.happenings.flatMap((one, n): Happening[] => {
          if (one.kind === "event" || one.kind === "result") return [one];
          return kept[n] ? [one, one] : [];
        });
        const one = lived(drivenLife({ ...world, versions: still }));
        const other = lived(drivenLife({ ...world, versions: still, happenings }));
        expect(other).toEqual(one);
      }),
      { numRuns: RUNS },
    );
  });

  it("replays to the very same snapshot, by its log and the definitions that it lived on", () => {
    const carried = { kept: 0, cancelled: 0, started: 0 };
    fc.assert(
      fc.property(anyWorlds(true), (world) => {
        const { actor, log, machines } = drivenLife(world);
        const first = machines.get("v1")!;
        const replay = new Replay({ tenant: "t", id: "a" }, first, {
          machineOf: (hash) => machines.get(hash)!,
        });
        expect(replay.run(log)).toBeNull();
        for (const { result } of log) {
          const { activities } = (result ?? {}) as { activities?: ActivityNotes };
          for (const fate of FATES) carried[fate] += activities?.[fate].length ?? 0;
        }
        const end = replay.actor?.envelope as unknown as JsonValue;
        expect(canonicalJson(end)).toBe(canonicalJson(actor.envelope as unknown as JsonValue));
      }),
      { numRuns: RUNS },
    );
    for (const fate of FATES) expect(carried[fate], fate).toBeGreaterThan(5);
  });
});

function lived({ inputs, version, state, activity }: Driven): Lived {
  return { inputs, version, state, activity };
}
