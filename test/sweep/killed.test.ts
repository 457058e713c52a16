import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { seeded } from "../support/seeded.ts";
import { Around, inSweep, lifeOf } from "../support/sweep.ts";
import type { HeldAlarm } from "../support/sweep.ts";

const SEEDS = 12;
/** After so many a life may come to its end. */
const DEATHS = 15;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

const OVERLOADED = Object.assign(new Error("overloaded"), { overloaded: true });
const never = new Promise<never>(() => {});

/** One life of the object that ends at one of its calls, or comes to its end. */
async function live(
  state: DurableObjectState,
  held: HeldAlarm,
  around: Around,
  calls: number,
): Promise<"killed" | "rests"> {
  let left = calls;
  const killed = new Promise<"killed">((resolve) => {
    around.before = () => {
      left -= 1;
      if (left === 0) resolve("killed");
      // Who is dead goes on with nothing.
      return left <= 0 ? never : undefined;
    };
  });
  const life = lifeOf(state, held, around);
  const lived = (async () => {
    while (held.at !== null) {
      if (held.at > Date.now()) vi.setSystemTime(held.at);
      // oxlint-disable-next-line no-await-in-loop
      await life.ring();
    }
    return "rests" as const;
  })();
  return await Promise.race([killed, lived]);
}

describe("a sweep that is killed again and again", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`asks everybody, and counts nobody twice (seed ${seed})`, async () => {
      const random = seeded(seed);
      const held: HeldAlarm = { at: null };
      await inSweep(async (state) => {
        const around = new Around(600, 3);
        const sick = new Set(around.actors.filter(() => random() < 0.02).map(({ id }) => id));
        around.answer = async (actor) => {
          // Some fail once.
          if (sick.delete(actor.id)) throw OVERLOADED;
          return random() < 0.3 ? { outcome: "pending" } : await around.move(actor);
        };
        around.change("active", Date.now() + 1_000);
        await lifeOf(state, held, around).poke();
        let deaths = 0;
        while (held.at !== null) {
          const dies = deaths === 0 || (deaths < DEATHS && random() < 0.9);
          const calls = dies ? Math.ceil(random() * 400) : Number.MAX_SAFE_INTEGER;
          // oxlint-disable-next-line no-await-in-loop
          if ((await live(state, held, around, calls)) === "rests") break;
          deaths += 1;
          // An alarm is held until its handler is through.
          held.at ??= Date.now();
        }
        around.before = () => {};
        const last = lifeOf(state, held, around);
        expect(last.progress()).toMatchObject({ state: "finished", failed: 0 });
        expect(new Set(around.asked.map(({ id }) => id)).size).toBe(600);
        // Those who were moved in a page that a death cut off are counted by nobody.
        expect(last.progress().woken).toBeLessThanOrEqual(600);
        expect(deaths).toBeGreaterThan(0);
        expect(around.swept).toContain(around.epoch);
      });
    });
  }
});
