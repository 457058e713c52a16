import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { refuse } from "../../src/base/errors.ts";
import { failures } from "../../src/sweep/read.ts";
import { saveFailure } from "../../src/storage/sweep-failures.ts";
import { Around, inSweep, lifeOf } from "../support/sweep.ts";
import type { HeldAlarm, Life } from "../support/sweep.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Rings as often as the sweep wants, at the times that it wants. */
async function toTheEnd({ ring }: Life, held: HeldAlarm, rings = 1_000): Promise<number> {
  let rung = 0;
  for (; held.at !== null && rung < rings; rung += 1) {
    if (held.at > Date.now()) vi.setSystemTime(held.at);
    // oxlint-disable-next-line no-await-in-loop
    await ring();
  }
  expect(held.at).toBeNull();
  return rung;
}

const OVERLOADED = Object.assign(new Error("overloaded"), { overloaded: true });

function tables(state: DurableObjectState): unknown[] {
  return state.storage.sql.exec("SELECT name FROM sqlite_master").toArray();
}

describe("a sweep", () => {
  it("asks every candidate once, counts, and tells the registry", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(5_000);
      const life = lifeOf(state, held, around);
      expect(life.progress()).toMatchObject({ state: "none", startedAt: null, visited: 0 });
      expect(tables(state)).toEqual([]);
      const startedAt = Date.now();
      await life.poke();
      expect(life.progress()).toMatchObject({ state: "running", startedAt, finishedAt: null });
      const before = life.db.meter.rowsWritten + life.db.meter.alarmsSet;
      const rings = await toTheEnd(life, held);
      expect(around.actors.every(({ moved }) => moved)).toBe(true);
      expect(around.asked).toHaveLength(5_000);
      expect(new Set(around.asked.map(({ id }) => id)).size).toBe(5_000);
      expect(life.progress()).toMatchObject({
        state: "finished",
        woken: 5_000,
        failed: 0,
        finishedAt: expect.any(Number),
      });
      expect(life.progress().visited).toBeGreaterThanOrEqual(5_000);
      expect(around.swept).toEqual([1]);
      // A row a page, an alarm or two a ring: nothing is written for one actor.
      const rows = life.db.meter.rowsWritten + life.db.meter.alarmsSet - before;
      expect(rows).toBeLessThanOrEqual(around.pages + 3 * rings + 10);
      expect(around.pages).toBeLessThanOrEqual(12);
    });
  });

  it.each(["paused", "retired"] as const)(
    "asks the page again that it was asking when its life ended, also of a rule that is %s by then",
    async (state) => {
      const held: HeldAlarm = { at: null };
      await inSweep(async (object) => {
        const around = new Around(300);
        const first = lifeOf(object, held, around);
        await first.poke();
        // Moved, but the directory was not told: they are candidates still. From the 40th on nobody answers any more.
        around.answer = async () =>
          around.asked.length < 40 ? { outcome: "migrated" } : await new Promise(() => {});
        void first.ring();
        await until(
          async () => around.asked.length,
          (asked) => asked >= 40,
        );
        const before = around.asked.map(({ id }) => id);
        around.change(state);
        around.answer = async () => ({ outcome: "held" });
        const second = lifeOf(object, held, around);
        await second.ring();
        const again = around.asked.slice(before.length).map(({ id }) => id);
        expect(again).toEqual(expect.arrayContaining(before));
        expect(new Set(again).size).toBe(again.length);
        // Once, and no further.
        await lifeOf(object, held, around).ring();
        expect(around.asked).toHaveLength(before.length + again.length);
        expect(again.length).toBeLessThan(300);
      });
    },
  );

  it.each([true, false])(
    "ends when the registry has its rule no more, in the same life (%s), and follows one that is there again",
    async (same) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      const held: HeldAlarm = { at: null };
      await inSweep(async (state) => {
        const around = new Around(3_000);
        let life = lifeOf(state, held, around);
        await life.poke();
        const rule = around.rule;
        around.answer = async (actor) => {
          if (around.asked.length >= 40) {
            // Put back to a time before it.
            around.rule = null;
            around.epoch = 0;
            vi.setSystemTime(Date.now() + 2_000);
          }
          return await around.move(actor);
        };
        saveFailure(life.db, {
          id: "a999999",
          uid: "0".repeat(32),
          reason: "unavailable: x",
          at: Date.now(),
          attempts: 1,
          dueAt: Date.now() + 86_400_000,
        });
        if (!same) life = lifeOf(state, held, around);
        await toTheEnd(life, held);
        const asked = around.asked.length;
        expect(asked).toBeGreaterThanOrEqual(40);
        expect(asked).toBeLessThan(3_000);
        const ended = {
          state: "finished",
          finishedAt: expect.any(Number),
          woken: asked,
          failed: 1,
        };
        expect(life.progress()).toMatchObject(ended);
        expect(around.swept).toEqual([]);
        // Whatever rings, nothing is tried again.
        vi.setSystemTime(Date.now() + 172_800_000);
        await life.ring();
        expect(held.at).toBeNull();
        expect(around.asked).toHaveLength(asked);

        around.rule = rule;
        around.answer = (actor) => around.move(actor);
        await life.poke();
        await toTheEnd(life, held);
        expect(around.actors.every(({ moved }) => moved)).toBe(true);
        expect(around.swept).toEqual([0]);
      });
    },
  );

  it("asks nobody before its rule is in force", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(10);
      const inForceAt = Date.now() + 30_000;
      around.change("active", inForceAt);
      const life = lifeOf(state, held, around);
      await life.poke();
      expect(held.at).toBe(inForceAt);
      // It may come early.
      vi.setSystemTime(inForceAt - 1);
      await life.ring();
      expect(around.asked).toEqual([]);
      expect(held.at).toBe(inForceAt);
      await toTheEnd(life, held);
      expect(around.asked).toHaveLength(10);
      expect(around.asked.every(({ epoch }) => epoch === 2)).toBe(true);
    });
  });

  it("asks at most as many actors at once as the limit says, and fetches a page ahead", async () => {
    await inSweep(async (state) => {
      const held: HeldAlarm = { at: null };
      const around = new Around(400, 2);
      let now = 0;
      let most = 0;
      let ahead = 0;
      around.answer = async (actor) => {
        now += 1;
        most = Math.max(most, now);
        if (around.asked.length === 100) ahead = around.pages;
        await new Promise((resolve) => setTimeout(resolve, 1));
        now -= 1;
        return await around.move(actor);
      };
      const life = lifeOf(state, held, around);
      await life.poke();
      await life.ring();
      expect(most).toBe(LIMITS.sweepConcurrency);
      expect(ahead).toBe(2);
      expect(life.progress()).toMatchObject({ state: "finished", woken: 400 });
    });
  });

  it("that finished begins again only at a younger epoch, or when told to", async () => {
    await inSweep(async (state) => {
      const held: HeldAlarm = { at: null };
      const around = new Around(10);
      around.answer = async () => ({ outcome: "pending" });
      const life = lifeOf(state, held, around);
      await life.poke();
      await life.ring();
      expect(around.asked).toHaveLength(10);
      held.at = null;
      const next = lifeOf(state, held, around);
      await next.poke();
      expect(next.progress().state).toBe("finished");
      await next.ring();
      expect(around.asked).toHaveLength(10);
      // Whoever pokes may not know.
      expect(around.swept).toEqual([1, 1]);
      await next.poke(true);
      expect(next.progress()).toMatchObject({ state: "running", woken: 0 });
      await next.ring();
      expect(around.asked).toHaveLength(20);
      // A higher percentage.
      around.change("active");
      await next.poke();
      await next.ring();
      expect(around.asked).toHaveLength(30);
      expect(around.swept).toEqual([1, 1, 1, 2]);
      expect(next.progress()).toMatchObject({ state: "finished", woken: 10 });
    });
  });

  it("sees a pause though its poke was lost, keeps its place, and does a whole pass after a resume", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(900, 1);
      around.answer = async () => {
        vi.setSystemTime(Date.now() + 50);
        await new Promise((resolve) => setTimeout(resolve, 0));
        if (around.asked.length === 100) around.change("paused");
        return { outcome: "unmappable" };
      };
      const life = lifeOf(state, held, around);
      await life.poke();
      await life.ring();
      const asked = around.asked.length;
      // 50 ms each: within a second, plus those that were under way.
      expect(asked).toBeGreaterThanOrEqual(100);
      expect(asked).toBeLessThanOrEqual(100 + 20 + 2 * LIMITS.sweepConcurrency);
      expect(life.progress()).toMatchObject({ state: "paused", woken: asked, finishedAt: null });
      expect(around.swept).toEqual([]);
      held.at = null;
      // In another life it goes on where it was.
      const next = lifeOf(state, held, around);
      await next.poke();
      expect(held.at).toBeNull();
      around.change("active");
      await next.poke();
      expect(next.progress().state).toBe("running");
      await toTheEnd(next, held);
      const match = around.actors.filter(({ stage }) => stage === "match");
      expect(around.asked[asked]?.id).toBe(match[asked]?.id);
      expect(around.asked).toHaveLength(2 * 900);
      expect(new Set(around.asked.slice(900).map(({ id }) => id)).size).toBe(900);
      expect(around.swept).toEqual([3]);
      expect(next.progress()).toMatchObject({ state: "finished", woken: 2 * 900 });
    });
  });

  it("ends where its rule is retired in the middle of a page, and keeps what it counted", async () => {
    await inSweep(async (state) => {
      const held: HeldAlarm = { at: null };
      const around = new Around(900, 1);
      const life = lifeOf(state, held, around);
      around.answer = async (actor) => {
        if (around.asked.length === 100) {
          around.change("retired");
          await life.poke();
        }
        return await around.move(actor);
      };
      await life.poke();
      await life.ring();
      const asked = around.asked.length;
      expect(asked).toBeLessThan(100 + LIMITS.sweepConcurrency);
      expect(life.progress()).toMatchObject({ state: "finished", woken: asked });
      expect(around.swept).toEqual([2]);
      await life.poke(true);
      await life.ring();
      expect(around.asked).toHaveLength(asked);
    });
  });

  it("tries who is out of reach again, later and later, lists who stays so, and asks them when told to", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(200);
      const [lost, faulty, gone] = ["a000007", "a000009", "a000011"];
      const times: number[] = [];
      let healed = false;
      around.answer = async (actor) => {
        if (actor.id === gone) return refuse("actor_not_found", "There is no such actor.");
        if (healed) return await around.move(actor);
        if (actor.id === faulty) throw new Error("a fault of ours");
        if (actor.id !== lost) return await around.move(actor);
        times.push(Date.now());
        throw OVERLOADED;
      };
      const life = lifeOf(state, held, around);
      await life.poke();
      await toTheEnd(life, held);
      expect(times).toHaveLength(LIMITS.sweepAttempts);
      const pauses = times.slice(1).map((at, n) => Math.round((at - (times[n] ?? 0)) / 1_000));
      expect(pauses).toEqual([1, 4, 16, 64]);
      expect(life.progress()).toMatchObject({ state: "finished", woken: 200, failed: 2 });
      expect(failures(life.sweep, { after: null, limit: 1 })).toEqual({
        items: [{ actorId: lost, reason: expect.stringMatching(/^unavailable: /), at: times[4] }],
        next: lost,
      });
      expect(failures(life.sweep, { after: lost, limit: 1 })).toEqual({
        items: [
          {
            actorId: faulty,
            reason: expect.stringMatching(/^internal_error: /),
            at: expect.any(Number),
          },
        ],
        next: null,
      });
      healed = true;
      await life.poke(true);
      await toTheEnd(life, held);
      expect(life.progress()).toMatchObject({ state: "finished", failed: 0 });
      expect(failures(life.sweep, { after: null, limit: 9 })).toEqual({ items: [], next: null });
    });
  });

  it("begins no new page while too many are out of reach", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(4_000, 4);
      let healed = false;
      around.answer = async (actor) => {
        if (!healed) throw OVERLOADED;
        return await around.move(actor);
      };
      const life = lifeOf(state, held, around);
      await life.poke();
      await life.ring();
      await life.ring();
      expect(new Set(around.asked.map(({ id }) => id)).size).toBeLessThanOrEqual(1_000);
      healed = true;
      await toTheEnd(life, held);
      expect(around.actors.every(({ moved }) => moved)).toBe(true);
      expect(life.progress()).toMatchObject({ state: "finished", failed: 0 });
    });
  });

  it("lists so many failures and counts the rest, until they are asked", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inSweep(async (state) => {
      const around = new Around(5, 1);
      const life = lifeOf(state, held, around);
      await life.poke();
      await toTheEnd(life, held);
      const row = { uid: "0", reason: "unavailable: no", at: 1, attempts: 5, dueAt: null };
      for (let n = 0; n < LIMITS.sweepFailuresKept - 2; n += 1) {
        saveFailure(life.db, { ...row, id: `b${n}` });
      }
      // Five new ones find two free places, in whichever stage they are met.
      const fresh = { moved: false, visited: false, stage: "match" };
      for (const actor of around.actors) Object.assign(actor, fresh);
      let healed = false;
      around.answer = async () => {
        if (!healed) throw OVERLOADED;
        return { outcome: "pending" };
      };
      around.before = (method) => {
        if (method === "migrate") throw OVERLOADED;
      };
      const next = lifeOf(state, held, around);
      await next.poke(true);
      for (let n = 0; n < 1_000 && held.at !== null; n += 1) {
        if (next.sweep.course.unlisted > 0) break;
        vi.setSystemTime(held.at);
        await next.ring();
      }
      expect(next.sweep.course.pass?.place).toBeNull();
      expect(next.sweep.failures().listed).toBe(LIMITS.sweepFailuresKept);
      expect(next.progress().failed).toBe(LIMITS.sweepFailuresKept + 3);
      around.before = () => {};
      await toTheEnd(next, held);
      // Those of the first passes could be asked now; the others have used up their attempts.
      expect(next.progress()).toMatchObject({ state: "finished", failed: 5 });
      expect(next.sweep.failures().listed).toBe(2);
      healed = true;
      await next.poke(true);
      await toTheEnd(next, held);
      expect(next.progress()).toMatchObject({ state: "finished", failed: 0 });
    });
  });

  it("of a newer version is refused with both numbers", async () => {
    await inSweep(async (state) => {
      const around = new Around(3);
      await lifeOf(state, { at: null }, around).poke();
      state.storage.sql.exec("UPDATE schema SET version = 9");
      const later = lifeOf(state, { at: null }, around);
      expect(() => later.progress()).toThrow(/version 9.*up to 1/);
    });
  });
});
