import { afterEach, describe, expect, test, vi } from "vitest";
import { arrived, caller, hanging, outboxOf, service } from "../../support/activities.ts";
import {
  actorNow,
  advanceClock,
  crash,
  evict,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../../support/actors.ts";
import { call, expectProblem } from "../../support/api.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

const once = { retry: { maxAttempts: 1 } };

async function control(id: string, action: string, body: object = {}) {
  return await call("POST", `/v1/actors/${id}/${action}`, { body });
}

describe("a paused actor", () => {
  test("begins no attempt until it goes on", async () => {
    const calls = service((_, nth) => new Response("", { status: nth === 1 ? 500 : 200 }));
    const id = await spawned(caller({ retry: { initialMs: 60_000, maxMs: 60_000 } }));
    await sent(id, "GO");
    await until(
      () => outboxOf(id),
      ([item]) => item?.attempts === 1,
    );
    expect((await control(id, "pause")).status).toBe(200);
    await advanceClock(id, 60_000);
    await ringAlarm(id);
    await evict(id);
    await actorNow(id);
    expect(calls).toHaveLength(1);
    expect((await control(id, "resume")).status).toBe(200);
    await arrived(id, "done");
    expect(calls).toHaveLength(2);
    await expectReplays(id);
  });

  test("keeps a result that comes, over an eviction, and takes it when it goes on", async () => {
    let answering = false;
    const calls = service(async () => {
      await until(
        async () => answering,
        (now) => now,
      );
      return new Response("late");
    });
    const id = await spawned(caller({}));
    await sent(id, "GO");
    await until(
      async () => calls,
      ({ length }) => length === 1,
    );
    await control(id, "pause");
    answering = true;
    await until(
      () => outboxOf(id),
      ([item]) => item?.known !== undefined,
    );
    expect((await actorNow(id)).stateValue).toBe("calling");
    await crash();
    await control(id, "resume");
    const actor = await arrived(id, "done");
    expect(actor.context.got.body).toBe("late");
    expect(calls).toHaveLength(1);
    expect(await outboxOf(id)).toEqual([]);
    await expectReplays(id);
  });
});

describe("an error that nobody is there for", () => {
  test("leaves the activity failed; a retry runs it again under the same key", async () => {
    const calls = service((_, nth) => new Response("", { status: nth === 1 ? 400 : 200 }));
    const id = await spawned(caller({}, { onError: undefined }));
    await sent(id, "GO");
    const failed = await until(
      () => actorNow(id),
      ({ seq }) => seq === 3,
    );
    expect(failed.stateValue).toBe("calling");
    expectProblem(await control(id, "retry", { activityId: "other" }), 409, "nothing_to_retry");
    expect((await control(id, "retry", { activityId: "call" })).status).toBe(200);
    await arrived(id, "done");
    const keys = calls.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    await expectReplays(id);
  });
});

describe("a clock that is moved", () => {
  test("brings the next attempt nearer", async () => {
    const calls = service((_, nth) => new Response("", { status: nth === 1 ? 500 : 200 }));
    const id = await spawned(caller({ retry: { initialMs: 3_600_000, maxMs: 3_600_000 } }));
    await sent(id, "GO");
    await until(
      () => outboxOf(id),
      ([item]) => item?.attempts === 1,
    );
    await advanceClock(id, 3_600_000);
    await arrived(id, "done");
    expect(calls).toHaveLength(2);
    await expectReplays(id);
  });

  test("ends an activity at its deadline, and its call with it", async () => {
    const calls = service(hanging);
    const id = await spawned(caller({ deadlineMs: 60_000 }));
    await sent(id, "GO");
    await until(
      async () => calls,
      ({ length }) => length === 1,
    );
    await advanceClock(id, 60_000);
    const actor = await arrived(id, "failed");
    expect(actor.context.got.code).toBe("deadline");
    expect(calls[0]?.cut).toBe(true);
    expect(await outboxOf(id)).toEqual([]);
    await expectReplays(id);
  });
});

describe("an actor that ends", () => {
  test("cuts its calls off", async () => {
    const calls = service(hanging);
    const id = await spawned(caller(once));
    await sent(id, "GO");
    await until(
      async () => calls,
      ({ length }) => length === 1,
    );
    await control(id, "terminate");
    expect(calls[0]?.cut).toBe(true);
    expect(await outboxOf(id)).toEqual([]);
  });

  test("cuts them off when it is deleted", async () => {
    const calls = service(hanging);
    const id = await spawned(caller(once));
    await sent(id, "GO");
    await until(
      async () => calls,
      ({ length }) => length === 1,
    );
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    expect(calls[0]?.cut).toBe(true);
  });
});

describe("an object that goes away in the middle of a call", () => {
  test("makes it again when its alarm goes off, or when it is called", async () => {
    for (const wake of [ringAlarm, actorNow]) {
      const calls = service((sentCall, nth) =>
        nth === 1 ? hanging(sentCall) : new Response("again"),
      );
      const id = await spawned(caller({}));
      await sent(id, "GO");
      await until(
        async () => calls,
        ({ length }) => length === 1,
      );
      await crash();
      await wake(id);
      await arrived(id, "done");
      const keys = calls.map(({ headers }) => headers.get("Idempotency-Key"));
      expect(new Set(keys).size).toBe(1);
      expect(calls).toHaveLength(2);
      expect((await records(id)).map(({ kind }) => kind)).toEqual([
        "spawned",
        "event",
        "activity_done",
      ]);
      vi.restoreAllMocks();
    }
  });
});
