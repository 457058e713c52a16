import { afterEach, describe, expect, test, vi } from "vitest";
import { arrived, caller, hanging, service } from "../../support/activities.ts";
import { runInDurableObject } from "cloudflare:test";
import { DEFAULT_TENANT } from "../../../src/base/ids.ts";
import {
  actorNow,
  actorOf,
  alarmOf,
  meterOf,
  objectOf,
  ringAlarm,
  sent,
  spawned,
} from "../../support/actors.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

describe("the alarm that looks after a call", () => {
  test("stays as long as that is under way, and is not set again and again", async () => {
    const calls = service(hanging);
    const id = await spawned(caller({}));
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    const before = await meterOf(id);
    let rung = false;
    const ringing = ringAlarm(id).then(() => (rung = true));
    // What the actor answers meanwhile shows that the alarm is at work and holds nobody up.
    for (let asked = 0; asked < 20; asked += 1) await actorNow(id);
    expect(rung).toBe(false);
    await sent(id, "LEAVE");
    await ringing;
    const after = await meterOf(id);
    expect(after.alarmsSet - before.alarmsSet).toBeLessThanOrEqual(2);
  });

  test("leaves for a timer, which is not late for it", async () => {
    service(hanging);
    const machine = caller({}) as { states: Record<string, object> };
    machine.states["calling"] = { ...machine.states["calling"], after: { 1_000: "failed" } };
    const id = await spawned(machine);
    await sent(id, "GO");
    const entered = Date.now();
    await ringAlarm(id);
    expect((await arrived(id, "failed")).stateValue).toBe("failed");
    expect(Date.now() - entered).toBeLessThan(20_000);
  });

  test("is set again where it got lost and a shard wakes the actor, which is awake already", async () => {
    service(() => new Response("no", { status: 503 }));
    const id = await spawned(caller({ retry: { initialMs: 60_000, maxMs: 60_000 } }));
    await sent(id, "GO");
    const { activities, uid } = await until(
      () => actorNow(id),
      ({ activities: [one] }) => one?.status === "retrying",
    );
    await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
    const address = { tenant: DEFAULT_TENANT, id, expect: { uid } };
    expect(await actorOf(id).rouse(address)).toMatchObject({ ok: true });
    const nextAt = Date.parse(activities[0].nextAttemptAt);
    const alarmAt = await alarmOf(id);
    expect(alarmAt).not.toBe(null);
    expect(alarmAt).toBeLessThanOrEqual(nextAt);
  });

  test("sets the next one for a timer as well, which a crash of the next moment leaves due", async () => {
    const released = Promise.withResolvers<void>();
    const calls = service(async () => {
      await released.promise;
      return new Response("no", { status: 503 });
    });
    const machine = caller({ retry: { initialMs: 60_000, maxMs: 60_000, jitter: false } }) as {
      states: Record<string, object>;
    };
    machine.states["calling"] = { ...machine.states["calling"], after: { 50_000: "failed" } };
    const id = await spawned(machine);
    await sent(id, "GO");
    const { timers } = await until(
      () => actorNow(id),
      () => calls.length === 1,
    );
    // Of this object: others, of other tests, set alarms of their own meanwhile.
    const times: number[] = [];
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      const setAlarm = storage.setAlarm.bind(storage);
      vi.spyOn(storage, "setAlarm").mockImplementation((at) => {
        times.push(Number(at));
        return setAlarm(at);
      });
    });
    const ringing = ringAlarm(id);
    await actorNow(id);
    times.length = 0;
    released.resolve();
    await ringing;
    expect(times[0]).toBeLessThanOrEqual(Date.parse(timers[0].dueAt));
  });

  test("is not replaced by one that is set for a repeat: after a crash, that would come alone and late", async () => {
    const released = Promise.withResolvers<void>();
    const calls = service(async () => {
      await released.promise;
      return fine();
    });
    const id = await spawned(caller({}));
    await sent(id, "GO", undefined, { key: "go" });
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    const ringing = ringAlarm(id);
    await actorNow(id);
    const repeat = await sent(id, "GO", undefined, { key: "go" });
    expect(repeat.headers.get("Idempotent-Replayed")).toBe("true");
    // The one at work, which the platform keeps, and no other.
    expect(await alarmOf(id)).toBe(null);
    released.resolve();
    await ringing;
    expect(await alarmOf(id)).not.toBe(null);
  });

  test("is not wanted when nothing is left", async () => {
    service(() => fine());
    const id = await spawned(caller({}));
    await sent(id, "GO");
    await arrived(id, "done");
    while (await ringAlarm(id)) {
      // The directory's alarm may follow; none may follow for ever.
    }
    expect(await alarmOf(id)).toBe(null);
  });
});

function fine(): Response {
  return new Response("fine");
}
