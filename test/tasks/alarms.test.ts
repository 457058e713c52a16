import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { registryObject } from "../support/registry.ts";
import {
  claimed,
  evictQueue,
  handedOut,
  oneClaimed,
  queueAlarm,
  queueName,
  queueObject,
} from "../support/tasks.ts";

/** As the platform does when the handler failed for too long; what the object knew of it is gone too. */
async function loseAlarm(queue: string): Promise<void> {
  await runInDurableObject(queueObject(queue), (_, state) => state.storage.deleteAlarm());
  await evictQueue(queue);
  expect(await queueAlarm(queue)).toBeNull();
}

test("a lease ends by an alarm", async () => {
  const queue = queueName();
  await handedOut(queue);
  const task = await oneClaimed(queue, { leaseMs: 30_000 });
  expect(await queueAlarm(queue)).toBe(Date.parse(task.leaseUntil));
});

test("an alarm that was lost is set again by whoever comes", async () => {
  const queue = queueName();
  await handedOut(queue);
  const task = await oneClaimed(queue, { leaseMs: 30_000 });
  await loseAlarm(queue);
  expect(await claimed(queue)).toEqual([]);
  expect(await queueAlarm(queue)).toBe(Date.parse(task.leaseUntil));
});

test("an alarm that was lost is set again by the registry, where nobody comes", async () => {
  const queue = queueName();
  await handedOut(queue);
  const task = await oneClaimed(queue, { leaseMs: 30_000 });
  await loseAlarm(queue);
  expect(await runDurableObjectAlarm(registryObject(DEFAULT_TENANT))).toBe(true);
  expect(await queueAlarm(queue)).toBe(Date.parse(task.leaseUntil));
});

test("asking a queue that is not there writes nothing", async () => {
  const queue = queueName();
  expect(await claimed(queue)).toEqual([]);
  expect(await queueAlarm(queue)).toBeNull();
  const tables = await runInDurableObject(queueObject(queue), (_, state) =>
    state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'tasks'").toArray(),
  );
  expect(tables).toEqual([]);
});
