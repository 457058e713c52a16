import { beforeAll, describe, expect, it } from "vitest";
import { insertOperation, updateState } from "../../src/storage/bulk-operation.ts";
import { ITEMS_PER_CHUNK, insertChunk } from "../../src/storage/bulk-selection.ts";
import type { ItemPair } from "../../src/storage/bulk-selection.ts";
import { openBulk } from "../../src/storage/bulk-schema.ts";
import { Db } from "../../src/storage/db.ts";
import { actorNow, deployed, records, spawned } from "../support/actors.ts";
import { call, doorMachine } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { bulkCommand, bulkId, bulkItems, inBulk, lifeOf } from "../support/bulk.ts";
import type { HeldAlarm, Trouble } from "../support/bulk.ts";

const ACTORS = 130;
/** ms; a busy machine is not what this is about. */
const PATIENCE_MS = 120_000;
const SEEDS = 6;
/** After so many a life may come to its end. */
const DEATHS = 20;

/** Numbers in [0, 1) that a seed decides (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

let pairs: ItemPair[] = [];
const paused = new Set<string>();
const gone = new Set<string>();

beforeAll(async () => {
  const definitionId = await deployed(doorMachine("any"));
  const ids = await Promise.all(Array.from({ length: ACTORS }, () => spawned(definitionId)));
  pairs = await Promise.all(
    ids.map(async (id, index): Promise<ItemPair> => {
      const { uid } = await actorNow(id);
      if (index % 10 === 3) {
        await call("POST", `/v1/actors/${id}/pause`);
        paused.add(id);
      }
      if (index % 10 !== 6) return [id, uid];
      // Another incarnation than the one that is under this id.
      gone.add(id);
      return [id, uid.replace(/./g, "0")];
    }),
  );
}, PATIENCE_MS);

/** Writes down an accepted operation over all of them, as `start` does. */
async function accepted(id: string): Promise<void> {
  await inBulk(id, async (state) => {
    const db = new Db(state.storage);
    openBulk(db);
    const { request, ...command } = bulkCommand(id);
    const whole = JSON.stringify({ request, ...command });
    insertOperation(db, { request, command: whole, createdAt: Date.now() });
    for (let at = 0; at < pairs.length; at += ITEMS_PER_CHUNK) {
      insertChunk(db, at / ITEMS_PER_CHUNK, pairs.slice(at, at + ITEMS_PER_CHUNK));
    }
    updateState(db, { state: "running", total: pairs.length });
  });
}

/** One life of the object that ends at one of its calls, before the call or after it, or comes to its end. */
async function live(
  id: string,
  held: HeldAlarm,
  random: () => number,
  most = Math.ceil(random() * 220),
): Promise<"killed" | "done"> {
  let steps = most;
  let killed: () => void = () => {};
  const step = async () => {
    steps -= 1;
    if (steps === 0) killed();
    // Who is dead goes on with nothing.
    if (steps <= 0) await new Promise<never>(() => {});
  };
  const trouble: Trouble = async (_, one) => {
    await step();
    const lost = Object.assign(new Error("Network connection lost."), { retryable: true });
    const luck = random();
    if (luck < 0.05) throw lost;
    const answer = await one();
    await step();
    if (luck > 0.95) throw lost;
    if (luck > 0.93) throw Object.assign(new Error("overloaded"), { overloaded: true });
    return answer;
  };
  return await inBulk(id, async (state) => {
    const dies = new Promise<"killed">((resolve) => (killed = () => resolve("killed")));
    const { operation, ring } = lifeOf(state, held, trouble);
    const lives = (async (): Promise<"done"> => {
      while (operation.row()?.finishedAt === null) {
        const wait = Math.max(0, (held.at ?? 0) - Date.now());
        // A killed object's alarm is the dead man's; nobody has to wait for it here.
        await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 200)));
        await ring();
      }
      return "done";
    })();
    return await Promise.race([lives, dies]);
  });
}

describe("an operation that is killed at any of its steps", () => {
  const first = Math.floor(Math.random() * 1e6);

  it.each(Array.from({ length: SEEDS }, (_, index) => first + index))(
    "gives each item one outcome and does it once (seed %i)",
    async (seed) => {
      const random = randomOf(seed);
      const id = bulkId();
      await accepted(id);
      const held: HeldAlarm = { at: 1 };
      let deaths = 0;
      while (deaths < DEATHS && (await live(id, held, random)) === "killed") {
        deaths += 1;
        // What a crash leaves is an alarm.
        expect(held.at).not.toBeNull();
      }
      if (deaths === DEATHS) await live(id, held, random, Infinity);
      // oxlint-disable-next-line no-console
      console.log(`seed ${seed}: ${deaths} deaths`);

      expect(deaths).toBeGreaterThan(0);

      const { body } = await call("GET", `/v1/bulk/${id}`);
      expect(body.state).toBe("done");
      const items = await bulkItems(id);
      expect(items.map(({ actorId }) => actorId)).toEqual(pairs.map(([actorId]) => actorId));
      const counted: Record<string, number> = {};
      for (const { outcome } of items) counted[outcome] = (counted[outcome] ?? 0) + 1;
      for (const name of ["pending", "succeeded", "refused", "failed", "cancelled"]) {
        expect(body.counts[name], name).toBe(counted[name] ?? 0);
      }
      await Promise.all(items.map((item) => expectTrue(id, item)));
    },
  );
});

/** The actor's log says the same as the outcome. */
async function expectTrue(id: string, item: Body): Promise<void> {
  const { actorId, outcome } = item;
  const mine = (await records(actorId)).filter(({ key }) => key === `bulk:${id}`);
  const refusal = paused.has(actorId)
    ? "actor_not_active"
    : gone.has(actorId)
      ? "actor_not_found"
      : null;
  if (refusal !== null) {
    expect(item).toMatchObject({ outcome: "refused", code: refusal });
    expect(mine).toEqual([]);
    return;
  }
  expect(outcome, JSON.stringify(item)).toBe("succeeded");
  expect(mine).toHaveLength(1);
  const [record] = mine;
  expect(record).toMatchObject({
    seq: item.seq,
    handled: item.handled,
    by: "the night shift",
    principal: "dev",
  });
}
