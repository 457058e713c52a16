import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { hash64 } from "../../src/fingerprint/kernel.ts";
import { call } from "../support/api.ts";
import {
  actorNow,
  deployed,
  evict,
  expectReplays,
  meterOf,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { repeatsKeptSoon } from "../support/limits.ts";

const SEAL = LIMITS.recordsPerSeal;
const counter = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
  },
};

/** Lives on up to record `through`; the event of record `seq` has the key `key-<seq>`. */
async function fill(id: string, through: number): Promise<void> {
  for (let { seq } = await actorNow(id); seq < through;) {
    const events = [];
    while (events.length < LIMITS.eventsPerBatch && seq < through) {
      seq += 1;
      events.push({ type: "ADD", idempotencyKey: `key-${seq}` });
    }
    const path = `/v1/actors/${id}/events/batch`;
    expect((await call("POST", path, { body: { events }, key: null })).status).toBe(200);
  }
}

async function expectKnown(id: string, ...seqs: number[]): Promise<void> {
  for (const seq of seqs) {
    const again = await sent(id, "ADD", undefined, { key: `key-${seq}` });
    expect(again.body.seq, `key-${seq}`).toBe(seq);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  }
}

const sealedOf = (id: string): Promise<{ sealed: number }[]> =>
  sqlIn(id, "SELECT sealed FROM actor");
const checkpointsOf = async (id: string): Promise<number[]> =>
  (await sqlIn<{ seq: number }>(id, "SELECT seq FROM checkpoint ORDER BY seq")).map(
    ({ seq }) => seq,
  );

repeatsKeptSoon();

describe("a seal", () => {
  test("comes with every 256th record, and the row says so at once", async () => {
    const id = await spawned(counter);
    await fill(id, SEAL - 1);
    expect(await sealedOf(id)).toEqual([{ sealed: 0 }]);
    await fill(id, SEAL);
    expect(await sealedOf(id)).toEqual([{ sealed: SEAL }]);
    await fill(id, 2 * SEAL - 1);
    expect(await sealedOf(id)).toEqual([{ sealed: SEAL }]);
    await fill(id, 2 * SEAL);
    expect(await sealedOf(id)).toEqual([{ sealed: 2 * SEAL }]);
    expect(await checkpointsOf(id)).toEqual([SEAL, 2 * SEAL]);
  });

  test("keeps every key known: of the records before it, its own and the next, awake and woken", async () => {
    const id = await spawned(counter);
    for (const through of [SEAL - 1, SEAL, SEAL + 1, 2 * SEAL, 2 * SEAL + 1, 3 * SEAL + 5]) {
      await fill(id, through);
      const seqs = [2, 3, SEAL - 1, SEAL, SEAL + 1, SEAL + 2, 2 * SEAL, 2 * SEAL + 1, through];
      const present = seqs.filter((seq) => seq <= through);
      await expectKnown(id, ...present);
      await evict(id);
      await expectKnown(id, ...present);
      await evict(id);
    }
    expect((await actorNow(id)).context.n).toBe(3 * SEAL + 4);
    // Blocks hold each key once, in 12 bytes; all in one block would outgrow a row some day.
    const [row] = await sqlIn<{ blocks: number; bytes: number }>(
      id,
      "SELECT count(*) AS blocks, sum(length(entries)) AS bytes FROM key_block",
    );
    expect(row).toEqual({ blocks: 8, bytes: (3 * SEAL + 4) * 12 });
  });

  test("by a batch that jumps over its record, and by one after the object woke", async () => {
    const id = await spawned(counter);
    await fill(id, SEAL - 50);
    await evict(id);
    const events = Array.from({ length: 100 }, (_, n) => ({
      type: "ADD",
      idempotencyKey: `jump-${n}`,
    }));
    const path = `/v1/actors/${id}/events/batch`;
    await call("POST", path, { body: { events }, key: null });
    expect(await checkpointsOf(id)).toEqual([SEAL + 50]);
    await evict(id);
    const again = await call("POST", path, { body: { events }, key: null });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    await expectKnown(id, 2, SEAL - 50);
    expect((await actorNow(id)).seq).toBe(SEAL + 50);
  });

  test("leaves every record of the past to be seen", async () => {
    const id = await spawned(counter);
    for (const through of [SEAL, 2 * SEAL, 2 * SEAL + 2]) await fill(id, through);
    await evict(id);
    for (const around of [SEAL, 2 * SEAL]) {
      for (const seq of [around - 1, around, around + 1, around + 2]) {
        expect(await actorNow(id, `?at=${seq}`)).toMatchObject({ seq, context: { n: seq - 1 } });
      }
    }
    await expectReplays(id);
  });

  test("lets the past be seen without reading what lies before the seal", async () => {
    const id = await spawned(counter);
    for (const through of [SEAL, 2 * SEAL, 2 * SEAL + 2]) await fill(id, through);
    const rowsFor = async (seq: number): Promise<number> => {
      const before = await meterOf(id);
      await actorNow(id, `?at=${seq}`);
      return (await meterOf(id)).rowsRead - before.rowsRead;
    };
    expect(await rowsFor(2 * SEAL)).toBeLessThan(10);
    expect(await rowsFor(2 * SEAL + 1)).toBeLessThan(10);
    expect(await rowsFor(2 * SEAL - 1)).toBeLessThan(SEAL + 10);
  });

  test("of an actor that was deleted is gone with it", async () => {
    const definitionId = await deployed(counter);
    const id = await spawned(definitionId);
    await fill(id, SEAL + 10);
    await call("DELETE", `/v1/actors/${id}`);
    await spawned(definitionId, { id });
    // The first life's keys are free, its checkpoints are not looked at.
    const event = await sent(id, "ADD", undefined, { key: `key-${SEAL - 7}` });
    expect(event.body).toMatchObject({ seq: 2, handled: true });
    expect(event.headers.has("Idempotent-Replayed")).toBe(false);
    await evict(id);
    await fill(id, SEAL - 20);
    const events = Array.from({ length: 40 }, () => ({ type: "ADD" }));
    await call("POST", `/v1/actors/${id}/events/batch`, { body: { events } });
    expect(await checkpointsOf(id)).toEqual([SEAL + 20]);
    expect(await actorNow(id, `?at=${SEAL + 1}`)).toMatchObject({ context: { n: SEAL } });
    await expectKnown(id, 3, SEAL - 20);
  });
});

test("two keys with one hash are two keys, before and after a seal", async () => {
  const [one, other] = ["8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"] as const;
  expect(hash64(one)).toBe(hash64(other));
  for (const keys of [[one], [one, other], [other, one]]) {
    const id = await spawned(counter);
    for (const key of keys) await sent(id, "ADD", undefined, { key });
    await fill(id, SEAL + 1);
    for (const disturb of [async () => {}, evict]) {
      await disturb(id);
      for (const [index, key] of keys.entries()) {
        expect((await sent(id, "ADD", undefined, { key })).body.seq).toBe(index + 2);
      }
    }
    if (keys.length > 1) continue;
    const fresh = await sent(id, "ADD", undefined, { key: other });
    expect(fresh.body.seq).toBe(SEAL + 2);
    expect(fresh.headers.has("Idempotent-Replayed")).toBe(false);
  }
});

test("waking with an alarm that stands sets none", async () => {
  const id = await spawned({
    initial: "a",
    states: { a: { after: { "3600000": "b" }, on: { GO: {} } }, b: {} },
  });
  await evict(id);
  await sent(id, "GO");
  expect(await meterOf(id)).toMatchObject({ alarmsSet: 0, rowsWritten: 2 });
});
