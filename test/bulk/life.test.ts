import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Reply } from "../../src/base/reply.ts";
import { cancel } from "../../src/bulk/cancel.ts";
import { items, view } from "../../src/bulk/read.ts";
import { start } from "../../src/bulk/start.ts";
import type { Env } from "../../src/env.ts";
import { readOperation } from "../../src/storage/bulk-operation.ts";
import type { Body } from "../support/api.ts";
import { bulkCommand, bulkId, inBulk, lifeOf } from "../support/bulk.ts";
import type { HeldAlarm, Trouble } from "../support/bulk.ts";
import { untilTrue } from "../support/until.ts";

/** A tenant whose directory has one shard with so many actors. */
function directoryOf(count: number, trouble: () => void = () => {}): Partial<Env> {
  const REGISTRY = { getByName: () => ({ shards: async () => 1 }) };
  const select = async ({ after, limit }: { after: { bornAt: number } | null; limit: number }) => {
    trouble();
    const from = after === null ? count : after.bornAt - 1;
    const length = Math.min(limit, from);
    const place = (index: number) => ({
      id: `a${from - index}`,
      uid: "0".repeat(32),
      bornAt: from - index,
    });
    const page = Array.from({ length }, (_, index) => place(index));
    const next = length < from ? (page.at(-1) ?? null) : null;
    return { ok: true, value: { items: page, next } };
  };
  const DIRECTORY = { getByName: () => ({ select }) };
  return { REGISTRY, DIRECTORY } as unknown as Partial<Env>;
}

/** Actors that answer every call at once. */
const willing: Trouble = async () => ({
  ok: true,
  status: 200,
  body: { handled: true },
  seq: 2,
});
const lost: Trouble = () =>
  Promise.reject(Object.assign(new Error("Network connection lost."), { retryable: true }));

let tenants = 0;
/** The count of shards is remembered per tenant. */
const command = (id: string) => bulkCommand(id, { tenant: `made-up-${(tenants += 1)}` });

afterEach(() => {
  vi.useRealTimers();
});

function bodyOf(reply: Reply): Body {
  if (!reply.ok) throw new Error(`Refused: ${JSON.stringify(reply.failure)}`);
  return reply.body;
}

function tables(state: DurableObjectState): unknown[] {
  return state.storage.sql.exec("SELECT name FROM sqlite_master").toArray();
}

describe("a selection", () => {
  it("takes as many as the limit says", { timeout: 300_000 }, async () => {
    await inBulk(bulkId(), async (state) => {
      const { operation } = lifeOf(state, { at: null }, willing, directoryOf(LIMITS.bulkItems));
      expect(await start(operation, command("b"))).toMatchObject({ ok: true, status: 202 });
      expect(operation.row()).toMatchObject({ state: "running", total: LIMITS.bulkItems });
      await operation.empty();
    });
  });

  it(
    "refuses one more before anything is done, and keeps nothing",
    { timeout: 300_000 },
    async () => {
      const held: HeldAlarm = { at: null };
      await inBulk(bulkId(), async (state) => {
        const { operation } = lifeOf(state, held, willing, directoryOf(LIMITS.bulkItems + 1));
        const reply = await start(operation, command("b"));
        expect(reply).toMatchObject({
          ok: false,
          failure: {
            code: "limit_exceeded",
            extra: { limit: "bulkItems", most: LIMITS.bulkItems },
          },
        });
        expect(tables(state)).toEqual([]);
        expect(held.at).toBeNull();
      });
    },
  );

  it("that the directory interrupts is refused, keeps nothing, and may be repeated", async () => {
    const id = bulkId();
    const held: HeldAlarm = { at: null };
    await inBulk(id, async (state) => {
      const asked = command(id);
      let pages = 0;
      const failing = directoryOf(9_000, () => {
        pages += 1;
        if (pages === 3) throw Object.assign(new Error("overloaded"), { overloaded: true });
      });
      const { operation } = lifeOf(state, held, willing, failing);
      await expect(start(operation, asked)).rejects.toMatchObject({
        failure: { code: "unavailable" },
      });
      expect(tables(state)).toEqual([]);
      expect(held.at).toBeNull();
      expect(await start(operation, asked)).toMatchObject({ ok: true, status: 202 });
      expect(operation.row()).toMatchObject({ state: "running", total: 9_000 });
    });
  });

  it("that a crash cuts off is begun anew by the repeat", async () => {
    const id = bulkId();
    const held: HeldAlarm = { at: null };
    await inBulk(id, async (state) => {
      const asked = command(id);
      let pages = 0;
      const crash = new Promise<void>((crashed) => {
        const directory = directoryOf(9_000);
        const stuck = {
          getByName: (name: string) => {
            const shard = (
              directory.DIRECTORY as NonNullable<typeof directory.DIRECTORY>
            ).getByName(name);
            return {
              select: async (query: never) => {
                pages += 1;
                if (pages < 3) return shard.select(query);
                crashed();
                return new Promise(() => {});
              },
            };
          },
        };
        const more = { ...directory, DIRECTORY: stuck } as unknown as Partial<Env>;
        const { operation } = lifeOf(state, held, willing, more);
        void start(operation, asked);
      });
      await crash;
      expect(held.at).toBeGreaterThan(Date.now());
      const { operation, db } = lifeOf(state, held, willing, directoryOf(1_234));
      expect(readOperation(db)).toMatchObject({ state: "selecting" });
      // Nobody was promised anything yet.
      expect(view(operation)).toMatchObject({ ok: false, failure: { code: "bulk_not_found" } });
      expect(await start(operation, asked)).toMatchObject({ ok: true, status: 202 });
      expect(operation.row()).toMatchObject({ state: "running", total: 1_234 });
      expect(items(operation, { after: 1_232, limit: 5, outcome: "pending" })).toMatchObject({
        body: { items: [{ actorId: "a2" }, { actorId: "a1" }], nextAfter: null },
      });
    });
  });

  it("that a crash cuts off is erased when nobody repeats it", async () => {
    const held: HeldAlarm = { at: null };
    await inBulk(bulkId(), async (state) => {
      const never = {
        ...directoryOf(10),
        DIRECTORY: { getByName: () => ({ select: () => new Promise(() => {}) }) },
      };
      const { operation } = lifeOf(state, held, willing, never as unknown as Partial<Env>);
      void start(operation, command("b"));
      await untilTrue(() => held.at !== null);
      const next = lifeOf(state, held, willing);
      await next.ring();
      expect(tables(state)).toEqual([]);
      expect(held.at).toBeNull();
    });
  });

  it("under way is joined by a repeat, and refuses another request", async () => {
    await inBulk(bulkId(), async (state) => {
      const { operation } = lifeOf(state, { at: null }, willing, directoryOf(3_000));
      const asked = command("b");
      const both = await Promise.all([
        start(operation, asked),
        start(operation, asked),
        start(operation, { ...asked, request: "1".repeat(64) }),
      ]);
      expect(both).toMatchObject([
        { ok: true, status: 202 },
        { ok: true, status: 202, replayed: true },
        { ok: false, failure: { code: "idempotency_in_progress" } },
      ]);
    });
  });
});

describe("an accepted operation", () => {
  it("costs few rows: its list, a row for every 50 outcomes, and alarms", async () => {
    const held: HeldAlarm = { at: null };
    await inBulk(bulkId(), async (state) => {
      const { operation, ring, db } = lifeOf(state, held, willing, directoryOf(5_000));
      await start(operation, command("b"));
      const listed = db.meter.rowsWritten + db.meter.alarmsSet;
      while (operation.row()?.finishedAt === null) await ring();
      const all = db.meter.rowsWritten + db.meter.alarmsSet;
      // oxlint-disable-next-line no-console
      console.log(`rows for 5,000 items: ${listed} to accept, ${all - listed} to do`);
      expect(listed).toBeLessThanOrEqual(10 + 20);
      expect(all - listed).toBeLessThanOrEqual(100 + 5 * 3);
      expect(view(operation)).toMatchObject({ body: { counts: { succeeded: 5_000 } } });
    });
  });

  it("acts on at most as many actors at once as the limit says", async () => {
    await inBulk(bulkId(), async (state) => {
      let now = 0;
      let most = 0;
      const slow: Trouble = async (method, one) => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 1));
        now -= 1;
        return willing(method, one);
      };
      const { operation, ring } = lifeOf(state, { at: null }, slow, directoryOf(400));
      await start(operation, command("b"));
      await ring();
      expect(most).toBe(LIMITS.bulkConcurrency);
      expect(operation.row()).toMatchObject({ state: "done" });
    });
  });

  it("tries actors out of reach again, later and later, and then says that it failed", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const held: HeldAlarm = { at: null };
    await inBulk(bulkId(), async (state) => {
      const tried = new Map<number, number>();
      let rings = 0;
      const overloaded: Trouble = async () => {
        tried.set(rings, (tried.get(rings) ?? 0) + 1);
        throw Object.assign(new Error("overloaded"), { overloaded: true });
      };
      const { operation, ring } = lifeOf(state, held, overloaded, directoryOf(3));
      await start(operation, command("b"));
      const moments: number[] = [];
      for (; rings < 100 && operation.row()?.finishedAt === null; rings += 1) {
        vi.setSystemTime(Math.max(Date.now(), held.at ?? 0));
        await ring();
        if (tried.has(rings)) moments.push(Date.now());
      }
      expect([...tried.values()]).toEqual(Array(LIMITS.bulkAttempts).fill(3));
      const pauses = moments.slice(1).map((at, n) => at - (moments[n] as number));
      expect(pauses).toEqual(
        Array.from({ length: LIMITS.bulkAttempts - 1 }, (_, n) => 1_000 * 2 ** n),
      );
      expect(view(operation)).toMatchObject({
        body: { state: "done", counts: { failed: 3, pending: 0 } },
      });
      expect(items(operation, { after: 0, limit: 9, outcome: "failed" })).toMatchObject({
        body: {
          items: Array.from({ length: 3 }, () => ({ outcome: "failed", code: "unavailable" })),
        },
      });
    });
  });

  it("begins no more when too many actors are out of reach", async () => {
    await inBulk(bulkId(), async (state) => {
      const tried = new Set<string>();
      const { operation, ring } = lifeOf(
        state,
        { at: null },
        async (method, one) => {
          tried.add(String(tried.size));
          return lost(method, one);
        },
        directoryOf(2_000),
      );
      await start(operation, command("b"));
      await ring();
      expect(view(operation)).toMatchObject({ body: { counts: { pending: 2_000 } } });
      // Each is called three times; the rest of 2,000 was left alone.
      expect(tried.size).toBeLessThanOrEqual(3 * 250);
    });
  });

  it("cancelled in the middle: what was begun has its outcome, the rest is cancelled", async () => {
    await inBulk(bulkId(), async (state) => {
      const held: HeldAlarm = { at: null };
      let done = 0;
      let answer: unknown = null;
      const counting: Trouble = async (method, one) => {
        await new Promise((resolve) => setTimeout(resolve, 0));
        done += 1;
        if (done === 123) answer = await cancel(operation);
        return willing(method, one);
      };
      const { operation, ring } = lifeOf(state, held, counting, directoryOf(1_000));
      await start(operation, command("b"));
      while (operation.row()?.finishedAt === null) await ring();
      expect(answer).toMatchObject({ body: { state: "cancelling" } });
      // Those under way at that moment, and none after them.
      expect(done).toBeGreaterThanOrEqual(123);
      expect(done).toBeLessThan(123 + LIMITS.bulkConcurrency);
      const body = bodyOf(view(operation));
      expect(body).toMatchObject({
        state: "cancelled",
        counts: { pending: 0, succeeded: done, cancelled: 1_000 - done },
      });
      const page = items(operation, { after: 0, limit: 1_000, outcome: "cancelled" });
      expect(bodyOf(page).items).toHaveLength(1_000 - done);
      expect(await cancel(operation)).toMatchObject({ ok: true, body });
    });
  });

  it("cancelled before its first alarm acts on nobody", async () => {
    await inBulk(bulkId(), async (state) => {
      let done = 0;
      const counting: Trouble = (method, one) => {
        done += 1;
        return willing(method, one);
      };
      const { operation, ring } = lifeOf(state, { at: null }, counting, directoryOf(1_000));
      await start(operation, command("b"));
      await cancel(operation);
      await ring();
      expect(done).toBe(0);
      expect(view(operation)).toMatchObject({
        body: { state: "cancelled", counts: { cancelled: 1_000 } },
      });
    });
  });

  it("cancelled after a crash finishes what may have been begun", async () => {
    await inBulk(bulkId(), async (state) => {
      const held: HeldAlarm = { at: null };
      const asked = command("b");
      const first = lifeOf(state, held, willing, directoryOf(1_000));
      await start(first.operation, asked);
      let done = 0;
      const died = new Promise<void>((resolve) => {
        const dying: Trouble = async (method, one) => {
          if (done === 60) {
            resolve();
            return new Promise(() => {});
          }
          done += 1;
          return willing(method, one);
        };
        void lifeOf(state, held, dying, directoryOf(1_000)).ring();
      });
      await died;
      let repeated = 0;
      const second = lifeOf(state, held, (method, one) => {
        repeated += 1;
        return willing(method, one);
      });
      await cancel(second.operation);
      while (second.operation.row()?.finishedAt === null) await second.ring();
      const { counts } = bodyOf(view(second.operation));
      expect(counts.succeeded).toBeGreaterThanOrEqual(60);
      expect(counts.succeeded).toBeLessThanOrEqual(50 + 3 * 50);
      expect(counts.succeeded + counts.cancelled).toBe(1_000);
      expect(repeated).toBeGreaterThan(0);
    });
  });

  it("is erased 30 days after its end", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await inBulk(bulkId(), async (state) => {
      const held: HeldAlarm = { at: null };
      const { operation, ring } = lifeOf(state, held, willing, directoryOf(5));
      await start(operation, command("b"));
      for (let round = 0; round < 5; round += 1) await ring();
      expect(view(operation)).toMatchObject({ ok: true, body: { state: "done" } });
      expect(held.at).toBe((operation.row()?.finishedAt as number) + LIMITS.bulkKeptMs);
      vi.setSystemTime((held.at as number) - 1);
      await ring();
      expect(view(operation)).toMatchObject({ ok: true });
      vi.setSystemTime(held.at as number);
      await ring();
      expect(view(operation)).toMatchObject({ ok: false });
      expect(tables(state)).toEqual([]);
    });
  });

  it("of a newer version is refused with both numbers", async () => {
    await inBulk(bulkId(), async (state) => {
      const { operation } = lifeOf(state, { at: null }, willing, directoryOf(5));
      await start(operation, command("b"));
      state.storage.sql.exec("UPDATE schema SET version = 9");
      const later = lifeOf(state, { at: null }, willing);
      expect(() => view(later.operation)).toThrow(/version 9.*up to 1/);
    });
  });
});
