import { afterEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../../src/base/limits.ts";
import { arrived, caller, hanging, service } from "../../support/activities.ts";
import {
  actorNow,
  expectReplays,
  meterOf,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../../support/actors.ts";
import type { Body } from "../../support/api.ts";
import { lowered } from "../../support/limits.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

const FAST = { initialMs: 0, jitter: false };

describe("an http activity", () => {
  test("is called once, with its key, and its answer moves the machine", async () => {
    const headers = new Headers({ "X-Id": "7" });
    for (const cookie of ["a=1", "b=2"]) headers.append("Set-Cookie", cookie);
    const calls = service(() => Response.json({ ok: 1 }, { headers }));
    const id = await spawned(caller({ method: "POST", body: { n: 1 } }));
    const { uid } = await actorNow(id);
    const answer = await sent(id, "GO");
    expect(answer.body).toMatchObject({ handled: true, stateValue: "calling" });
    const actor = await arrived(id, "done");
    expect(actor.context.got).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json", "x-id": "7", "set-cookie": ["a=1", "b=2"] },
      body: { ok: 1 },
    });
    expect(calls).toHaveLength(1);
    const [call] = calls;
    expect(call).toMatchObject({ method: "POST", url: "http://service.example/", body: '{"n":1}' });
    expect(call?.headers.get("Idempotency-Key")).toBe(`"${uid}:2:0"`);
    expect(call?.headers.get("Content-Type")).toBe("application/json");
    expect(call?.headers.get("User-Agent")).toMatch(/^Perdure\//);
    const log = await records(id);
    expect(log.map(({ kind, type }) => [kind, type])).toEqual([
      ["spawned", null],
      ["event", "GO"],
      ["activity_done", "@done:call"],
    ]);
    await expectReplays(id);
  });

  test("costs one row beyond the rows of its two records", async () => {
    service(() => new Response("fine"));
    const restore = lowered("outboxWatchMs", 50_000);
    try {
      const id = await spawned(caller({}));
      const before = await meterOf(id);
      await sent(id, "GO");
      await arrived(id, "done");
      const after = await meterOf(id);
      expect(after.rowsWritten - before.rowsWritten).toBe(4);
      expect(after.alarmsSet - before.alarmsSet).toBe(1);
    } finally {
      restore();
    }
  });

  test("that fails is tried again under the same key, with no record in between", async () => {
    const calls = service((_, nth) => new Response("no", { status: nth < 3 ? 503 : 200 }));
    const id = await spawned(caller({ retry: FAST }));
    await sent(id, "GO");
    await until(
      () => ringAlarm(id),
      () => calls.length === 3,
    );
    await arrived(id, "done");
    const keys = new Set(calls.map(({ headers }) => headers.get("Idempotency-Key")));
    expect([calls.length, keys.size]).toEqual([3, 1]);
    const log = await records(id);
    expect(log.map(({ kind }) => kind)).toEqual(["spawned", "event", "activity_done"]);
    const error = { code: "http_status", status: 503, message: "The answer was 503." };
    expect(log[2]?.payload).toMatchObject({
      attempts: 3,
      errors: [
        { attempt: 1, ...error },
        { attempt: 2, ...error },
      ],
    });
    await expectReplays(id);
  });

  test("keeps with its result the last of the attempts that failed before", async () => {
    const most = LIMITS.attemptErrors;
    const calls = service((_, nth) => new Response("no", { status: nth < most + 3 ? 503 : 200 }));
    const id = await spawned(caller({ retry: { ...FAST, maxAttempts: most + 5 } }));
    await sent(id, "GO");
    await until(
      () => ringAlarm(id),
      () => calls.length === most + 3,
    );
    await arrived(id, "done");
    const { payload } = (await records(id)).at(-1) as Body;
    expect(payload.errors.map(({ attempt }: Body) => attempt)).toEqual(
      Array.from({ length: most }, (_, n) => n + 3),
    );
    await expectReplays(id);
  });

  test("that a no ends is not tried again", async () => {
    const calls = service(() => Response.json({ why: "closed" }, { status: 409 }));
    const id = await spawned(caller({}));
    await sent(id, "GO");
    const { context } = await arrived(id, "failed");
    expect(context.got).toEqual({
      code: "http_status",
      message: "The answer was 409.",
      attempts: 1,
      status: 409,
      body: { why: "closed" },
    });
    expect(calls).toHaveLength(1);
  });

  test("is cut off when its state is left, and its late answer is nobody's business", async () => {
    const calls = service(hanging);
    const id = await spawned(caller({}));
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    await sent(id, "LEAVE");
    expect(calls[0]?.cut).toBe(true);
    // The next one is another activity.
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 2,
    );
    expect(calls[1]?.headers.get("Idempotency-Key")).toMatch(/:4:0"$/);
    await sent(id, "LEAVE");
    expect((await records(id)).map(({ kind }) => kind)).not.toContain("activity_failed");
    await expectReplays(id);
  });

  test("that hangs ends by its timeout", async () => {
    service(hanging);
    const id = await spawned(caller({ timeoutMs: 50, retry: { maxAttempts: 1 } }));
    await sent(id, "GO");
    const { context } = await arrived(id, "failed");
    expect(context.got).toMatchObject({ code: "timeout", attempts: 1 });
  });
});
