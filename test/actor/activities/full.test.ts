import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { LIMITS } from "../../../src/base/limits.ts";
import { arrived, caller, outboxOf, service } from "../../support/activities.ts";
import {
  actorNow,
  alarmOf,
  evict,
  expectReplays,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../../support/actors.ts";
import { call, expectProblem } from "../../support/api.ts";
import { lowered } from "../../support/limits.ts";
import { silence } from "../../support/silence.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

/** What an actor's object finds to be done outside when it wakes. */
async function owes(id: string, items: readonly object[]): Promise<void> {
  await evict(id);
  const outbox = items.length === 0 ? "" : JSON.stringify(items);
  await sqlIn(id, "UPDATE actor SET outbox = ?", outbox);
  await evict(id);
}

/** As much as there is room for, and none of it due for long. */
const FULL = Array.from({ length: 3 }, (_, n) => ({
  effect: { kind: "send", ref: "1:0", to: `${n}`.repeat(Math.floor(LIMITS.outboxBytes / 3) - 200) },
  attempts: 1,
  nextAt: Date.now() + 86_400_000,
  errors: [],
}));

describe("an actor that has no room for more to do outside", () => {
  test("refuses what would begin something, and takes it when there is room", async () => {
    const calls = service(() => new Response("fine"));
    const id = await spawned(caller({}));
    await owes(id, FULL.slice(0, 2));
    await sent(id, "NOTE");
    await owes(id, [
      ...FULL,
      { ...FULL[0], effect: { kind: "send", ref: "1:1", to: "x".repeat(540) } },
    ]);
    const key = "go-when-there-is-room";
    const refused = await sent(id, "GO", { key });
    expectProblem(refused, 429, "rate_limited");
    expect(refused.headers.get("Retry-After")).not.toBeNull();
    expect(refused.body.detail).toContain("outboxBytes");
    expect(await actorNow(id)).toMatchObject({ stateValue: "idle", seq: 2, activities: [] });
    expect((await sent(id, "NOTE")).status).toBe(200);
    expect(calls).toEqual([]);
    await owes(id, []);
    expect((await sent(id, "GO", { key })).status).toBe(200);
    await arrived(id, "done");
    expect(calls).toHaveLength(1);
    await expectReplays(id);
  });

  test("can be ended", async () => {
    const id = await spawned(caller({}));
    await owes(id, FULL);
    const ended = await call("POST", `/v1/actors/${id}/terminate`, { body: {} });
    expect(ended).toMatchObject({ status: 200, body: { status: "terminated" } });
  });
});

describe("an actor that may have no more records", () => {
  test("forgets what it can never write down, and has no alarm for it", async () => {
    silence();
    const answered = Promise.withResolvers<void>();
    service(async () => {
      await answered.promise;
      return new Response("fine");
    });
    const id = await spawned(caller({}));
    await sent(id, "GO");
    onTestFinished(lowered("recordsPerActor", 2));
    answered.resolve();
    await until(
      () => outboxOf(id),
      ({ length }) => length === 0,
    );
    // What is left is for the directory.
    await ringAlarm(id);
    expect(await alarmOf(id)).toBeNull();
    expect(await actorNow(id)).toMatchObject({ stateValue: "calling", seq: 2 });
    expectProblem(await sent(id, "LEAVE"), 422, "limit_exceeded");
    const ended = await call("POST", `/v1/actors/${id}/terminate`, { body: {} });
    expect(ended).toMatchObject({ status: 200, body: { status: "terminated" } });
    await expectReplays(id);
  });
});
