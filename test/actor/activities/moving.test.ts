import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { arrived, caller, hanging, service } from "../../support/activities.ts";
import {
  actorNow,
  evict,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../../support/actors.ts";
import { call } from "../../support/api.ts";
import { ruled, useRules, versions, visited } from "../../support/moves.ts";
import { until } from "../../support/until.ts";

beforeEach(() => useRules());
afterEach(() => vi.restoreAllMocks());

const keysOf = (calls: readonly { headers: Headers }[]): Set<string | null> =>
  new Set(calls.map(({ headers }) => headers.get("Idempotency-Key")));

/** The caller, in whose next version the state of the call has another name. */
function renamed(machine: object): object {
  const text = JSON.stringify(machine).replaceAll('"calling"', '"ringing"');
  return JSON.parse(text) as object;
}

describe("an actor that moves while its activity is under way", () => {
  test("between two attempts is tried again under the same key, and its result goes to the new version", async () => {
    const slow = { retry: { initialMs: 60_000, jitter: false } };
    const calls = service((_, nth) => new Response("no", { status: nth === 1 ? 503 : 200 }));
    const [v1 = "", v2 = ""] = await versions(caller(slow), renamed(caller(slow)));
    const id = await spawned(v1);
    await sent(id, "GO");
    await until(
      () => actorNow(id),
      ({ activities }) => activities[0]?.status === "retrying",
    );
    const rule = await ruled(v1, v2, { stateMapping: { calling: "ringing" } });
    await visited(id, rule);
    await evict(id);
    expect(await actorNow(id)).toMatchObject({
      definitionId: v2,
      stateValue: "ringing",
      activities: [{ id: "call", status: "retrying", attempts: 1 }],
    });
    const { moved } = (await records(id)).at(-1);
    const kept = [{ state: "ringing", id: "call", src: "http" }];
    expect(moved.activities).toEqual({ kept, cancelled: [], started: [] });
    await call("POST", `/v1/actors/${id}/clock/advance`, { body: { ms: 61_000 }, key: null });
    await until(
      () => ringAlarm(id),
      () => calls.length === 2,
    );
    await arrived(id, "done");
    expect(keysOf(calls).size).toBe(1);
    expect((await records(id)).at(-1)).toMatchObject({
      kind: "activity_done",
      payload: { attempts: 2 },
    });
    await expectReplays(id);
  });

  test("during a call gets its answer, which is asked for once", async () => {
    let answers = false;
    const calls = service(async () => {
      await until(
        async () => answers,
        (now) => now,
      );
      return new Response("fine");
    });
    const [v1 = "", v2 = ""] = await versions(caller({}), renamed(caller({})));
    const id = await spawned(v1);
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    await visited(id, await ruled(v1, v2, { stateMapping: { calling: "ringing" } }));
    expect(calls[0]?.cut).toBe(false);
    answers = true;
    await arrived(id, "done");
    expect(calls).toHaveLength(1);
    await expectReplays(id);
  });

  test("to a version that calls somebody else is cut off there, and calls anew under another key", async () => {
    const calls = service((one, nth) => (nth === 1 ? hanging(one) : new Response("fine")));
    const other = caller({}, { id: "other" });
    const [v1 = "", v2 = ""] = await versions(caller({}), other);
    const id = await spawned(v1);
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    await visited(id, await ruled(v1, v2));
    await arrived(id, "done");
    expect(calls).toHaveLength(2);
    expect(calls[0]?.cut).toBe(true);
    expect(keysOf(calls).size).toBe(2);
    expect((await actorNow(id)).activities).toMatchObject([
      { id: "call", status: "cancelled" },
      { id: "other", status: "completed" },
    ]);
    const refused = await call("POST", `/v1/actors/${id}/rollback`, { body: {} });
    expect(refused.status).toBe(409);
    await expectReplays(id);
  });
});
