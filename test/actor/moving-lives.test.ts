import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { actorObjectName } from "../../src/base/ids.ts";
import { referenceLife, referenceOfInputs } from "../support/migration-reference.ts";
import type { Lived } from "../support/migration-reference.ts";
import { LEASE_MS, worlds } from "../support/migration-world.ts";
import type { World } from "../support/migration-world.ts";
import { realLife } from "../support/moving-life.ts";
import type { RealLife } from "../support/moving-life.ts";
import { SweepCalls } from "../support/rules.ts";

// What test/migration/moving.test.ts tries on the room's transactions alone, with real objects: actors that are taken from
// memory, a registry that changes rules while events are under way, isolates that know them late, alarms and sweeps.

const WORLDS = 10;
/** Sweeps of worlds that are over go on, so each takes longer than the one before. */
const SWEPT_WORLDS = 5;

/** In most of them somebody moves: of ten that are drawn as they come, none may have anybody who does. */
function eventful(stopping: boolean): fc.Arbitrary<World> {
  const any = worlds(stopping);
  const moving = any.filter((world) => referenceLife(world).version !== "v1");
  return fc.oneof({ weight: 4, arbitrary: moving }, { weight: 1, arbitrary: any });
}

const circumstances = fc.array(
  fc.record({
    evicted: fc.boolean(),
    age: fc.nat(LEASE_MS),
    inFlight: fc.boolean(),
  }),
  { minLength: 40, maxLength: 40 },
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2090, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const lived = ({ inputs, version, state, activity }: Lived): Lived => ({
  inputs,
  version,
  state,
  activity,
});

async function expectReplay({ tenant, id }: RealLife): Promise<void> {
  const actor = env.ACTORS.getByName(actorObjectName(tenant, id));
  const reply = await actor.replay({ tenant, id, definitionId: null });
  expect(reply).toMatchObject({ ok: true, body: { identical: true } });
}

/** How many worlds had an actor that moved: a property about nothing would hold too. */
function moved(lives: readonly RealLife[]): number {
  return lives.filter(({ version }) => version !== "v1").length;
}

describe("a real actor that rules move", () => {
  test("is moved as the reference says, whatever rules, stops, visits, evictions and crashes there are", async () => {
    const sweeps = new SweepCalls();
    const lives: RealLife[] = [];
    try {
      await fc.assert(
        fc.asyncProperty(eventful(true), circumstances, async (world, around) => {
          const real = await realLife(world, around, false);
          lives.push(real);
          expect(lived(real)).toEqual(referenceLife(real.world));
          await expectReplay(real);
        }),
        { numRuns: WORLDS, endOnFailure: true },
      );
    } finally {
      sweeps.restore();
    }
    expect(moved(lives)).toBeGreaterThan(0);
  });

  test.each([false, true])(
    "has records handled by versions that follow from them and rule changes alone (sweeps: %s)",
    async (sweeping) => {
      const sweeps = sweeping ? null : new SweepCalls();
      const lives: RealLife[] = [];
      try {
        await fc.assert(
          fc.asyncProperty(eventful(false), circumstances, async (world, around) => {
            const real = await realLife(world, around, sweeping);
            lives.push(real);
            expect(lived(real)).toEqual(referenceOfInputs(real.world, real.inputs));
            await expectReplay(real);
          }),
          { numRuns: sweeping ? SWEPT_WORLDS : WORLDS, endOnFailure: true },
        );
      } finally {
        sweeps?.restore();
      }
      expect(moved(lives)).toBeGreaterThan(0);
    },
  );
});
