import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { Db } from "../../src/storage/db.ts";
import { fresh } from "../support/api.ts";
import { queueObject } from "../support/tasks.ts";

const FAR = Date.UTC(2090, 0, 1);

/** A clock on the storage of an object that nobody else uses. */
function withClock(
  work: (db: Db, clock: AlarmClock, held: () => Promise<number | null>) => unknown,
) {
  return runInDurableObject(queueObject(fresh("q")), async (_, { storage }) => {
    const db = new Db(storage);
    const clock = new AlarmClock(storage, db);
    await clock.load();
    await work(db, clock, () => storage.getAlarm());
  });
}

/** In a transaction that is undone. */
function undone(db: Db, work: () => void): void {
  const failing = () =>
    db.transaction(() => {
      work();
      throw new Error("injected");
    });
  expect(failing).toThrow("injected");
}

it("an alarm of a transaction that is undone was never set: a later one is", async () => {
  await withClock(async (db, clock, held) => {
    undone(db, () => clock.ensure(FAR));
    expect(await held()).toBeNull();
    clock.ensure(FAR + 1_000);
    expect(await held()).toBe(FAR + 1_000);
  });
});

it("the one from before stays, and no later one takes its place", async () => {
  await withClock(async (db, clock, held) => {
    clock.ensure(FAR);
    undone(db, () => clock.ensure(FAR - 1_000));
    expect(clock.at).toBe(FAR);
    clock.ensure(FAR + 1_000);
    expect(await held()).toBe(FAR);
  });
});

it("an inner transaction that is undone takes back its own part", async () => {
  await withClock(async (db, clock, held) => {
    db.transaction(() => {
      clock.ensure(FAR);
      undone(db, () => clock.ensure(FAR - 1_000));
    });
    expect(clock.at).toBe(FAR);
    expect(await held()).toBe(FAR);
  });
});
