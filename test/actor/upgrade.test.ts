import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { packSteps } from "../../src/lifecycle/steps.ts";
import {
  actorNow,
  evict,
  expectReplays,
  meterOf,
  objectOf,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { arrived, caller, service } from "../support/activities.ts";
import { fresh } from "../support/api.ts";
import { evictShard, sqlInShard } from "../support/directory.ts";
import { entryOf, indexedIn, shardNameOf, standingOf } from "../support/reports.ts";

afterEach(() => vi.restoreAllMocks());

const machine = {
  initial: "a",
  states: { a: { on: { GO: { target: "b" } } }, b: { on: { GO: { target: "a" } } } },
};

/** As the first release made it. */
const SCHEMA_1 = `CREATE TABLE actor (
     one      INTEGER PRIMARY KEY CHECK (one = 1),
     schema   INTEGER NOT NULL,
     sealed   INTEGER NOT NULL,
     snapshot TEXT    NOT NULL
   ) STRICT`;

/** An actor with three events, in tables of schema 1. */
async function ofSchema1(): Promise<string> {
  const id = await spawned(machine);
  for (let index = 0; index < 3; index += 1) await sent(id, "GO");
  await runInDurableObject(objectOf(id), (_, { storage }) => {
    storage.transactionSync(() => {
      storage.sql.exec("ALTER TABLE actor RENAME TO newer");
      storage.sql.exec(SCHEMA_1);
      storage.sql.exec("INSERT INTO actor SELECT 1, 1, sealed, snapshot FROM newer");
      storage.sql.exec("DROP TABLE newer");
    });
  });
  await evict(id);
  return id;
}

const rowOf = async (id: string): Promise<Record<string, unknown>> => {
  const [row] = await sqlIn<Record<string, unknown>>(id, "SELECT * FROM actor");
  delete row!["snapshot"];
  return row!;
};

test("an actor of schema 1 is read as it is, and nothing is written", async () => {
  const id = await ofSchema1();
  expect(await actorNow(id)).toMatchObject({ seq: 4, stateValue: "b" });
  expect(await rowOf(id)).toEqual({ one: 1, schema: 1, sealed: 0 });
  expect((await meterOf(id)).rowsWritten).toBe(0);
});

test("its first write brings it to schema 3 and counts what it has lived through", async () => {
  const id = await ofSchema1();
  const answer = await sent(id, "GO", undefined, { key: fresh("k") });
  expect(answer).toMatchObject({ status: 200, body: { seq: 5, stateValue: "a" } });
  const upgraded = {
    one: 1,
    schema: 3,
    sealed: 0,
    events: 4,
    replays: 0,
    steps: packSteps(
      "",
      Array.from({ length: 4 }, () => ({ type: "GO", handled: true })),
    ),
    announced: 4,
    erasing: null,
    outbox: "",
  };
  expect(await rowOf(id)).toEqual(upgraded);
  await evict(id);
  await sent(id, "GO");
  const steps = packSteps(upgraded.steps, [{ type: "GO", handled: true }]);
  expect(await rowOf(id)).toEqual({ ...upgraded, events: 5, steps });
  await expectReplays(id);
});

test("an actor of schema 2 and format 2 begins its first activity, and is brought to schema 3 by that", async () => {
  const calls = service(() => new Response("fine"));
  const id = await spawned(caller({}));
  await runInDurableObject(objectOf(id), (_, { storage }) => {
    const [row] = storage.sql.exec<{ snapshot: string }>("SELECT snapshot FROM actor");
    const envelope = JSON.parse(row?.snapshot ?? "{}");
    for (const member of ["activities", "ended", "undo", "undeliverable", "parent"]) {
      delete envelope[member];
    }
    const before = JSON.stringify({ ...envelope, format: 2 });
    storage.transactionSync(() => {
      storage.sql.exec("ALTER TABLE actor DROP COLUMN outbox");
      storage.sql.exec("UPDATE actor SET schema = 2, snapshot = ?", before);
    });
  });
  await evict(id);
  expect(await actorNow(id)).toMatchObject({ stateValue: "idle", activities: [] });
  expect(await rowOf(id)).toMatchObject({ schema: 2 });
  await sent(id, "GO");
  await arrived(id, "done");
  expect(calls).toHaveLength(1);
  expect(await rowOf(id)).toMatchObject({ schema: 3, outbox: "" });
  await expectReplays(id);
});

test("tables of a newer schema are refused with both numbers", async () => {
  const id = await spawned(machine);
  await sqlIn(id, "UPDATE actor SET schema = 4");
  await evict(id);
  const answer = await sent(id, "GO");
  expect(answer.status).toBe(503);
  expect(answer.body.detail).toMatch(/schema version 4.*versions up to 3/);
});

test("events are counted in the row that is written anyway", async () => {
  const id = await spawned(machine);
  expect(await rowOf(id)).toMatchObject({ schema: 3, events: 0, announced: 0 });
  await sent(id, "GO");
  await sent(id, "UNKNOWN");
  expect(await rowOf(id)).toMatchObject({ events: 2, erasing: null });
});

test("whatever wakes it tells the directory of it, if only a read does", async () => {
  const id = await ofSchema1();
  const shard = await shardNameOf(id);
  await sqlInShard(shard, "DELETE FROM entry WHERE id = ?", id);
  await evictShard(shard);
  expect(await entryOf(id)).toBeNull();
  await actorNow(id);
  await expect.poll(() => entryOf(id), { timeout: 60_000 }).toMatchObject({ seq: 4 });
  expect(indexedIn((await entryOf(id))!)).toEqual(await standingOf(id));
  const counts = "SELECT events FROM entry WHERE id = ?";
  expect(await sqlInShard(shard, counts, id)).toEqual([{ events: 3 }]);
  expect((await meterOf(id)).rowsWritten).toBe(0);
});
