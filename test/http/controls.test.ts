import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh, spawnDoor } from "../support/api.ts";
import type { CallOptions } from "../support/api.ts";

const control = (path: string, action: string, options: CallOptions = {}) =>
  call("POST", `${path}/${action}`, options);

describe("pause, resume and terminate", () => {
  it("move an actor on and answer it with its ETag", async () => {
    const path = await spawnDoor();
    const paused = await control(path, "pause", { body: { reason: "holiday" } });
    expect(paused).toMatchObject({ status: 200, body: { status: "paused", nextEvents: [] } });
    expect(paused.headers.get("ETag")).toBe(`"${paused.body.seq}"`);
    const refused = await call("POST", `${path}/events`, { body: { type: "OPEN" } });
    expectProblem(refused, 409, "actor_not_active");
    expect(refused.body.actorStatus).toBe("paused");
    expect((await control(path, "resume")).body.status).toBe("active");
    expect((await control(path, "terminate")).body.status).toBe("terminated");
    expectProblem(await control(path, "resume"), 409, "actor_not_active");
  });

  it("act once under one key, with or without a body", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const first = await control(path, "pause", { key });
    await control(path, "resume");
    const again = await control(path, "pause", { key, body: {} });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await call("GET", path)).body.status).toBe("active");
    const other = { key, body: { reason: "x" } };
    expectProblem(await control(path, "pause", other), 422, "idempotency_key_reused");
  });

  it("change nothing when they are refused", async () => {
    const path = await spawnDoor();
    const before = (await call("GET", path)).body;
    for (const action of ["pause", "resume", "terminate", "retry"]) {
      expectProblem(await control(path, action, { key: null }), 400, "idempotency_key_missing");
      const stale = { headers: { "If-Match": '"9"' } };
      expectProblem(await control(path, action, stale), 412, "seq_mismatch");
      expectProblem(await control(path, action, { body: { why: "x" } }), 400, "unknown_field");
      expectProblem(await control("/v1/actors/nobody", action), 404, "actor_not_found");
    }
    for (const reason of ["", 5, "x".repeat(LIMITS.textChars + 1)]) {
      expectProblem(await control(path, "pause", { body: { reason } }), 400, "invalid_request");
    }
    expectProblem(await control(path, "retry"), 409, "nothing_to_retry");
    expectProblem(
      await control(path, "retry", { body: { activityId: "x" } }),
      409,
      "nothing_to_retry",
    );
    expect((await call("GET", path)).body).toEqual(before);
  });
});

describe("a schedule", () => {
  const schedule = (path: string, body: object, options: CallOptions = {}) =>
    call("POST", `${path}/schedule`, { body, ...options });

  it("keeps events for later, and takes them back", async () => {
    const path = await spawnDoor();
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const later = await schedule(path, { type: "OPEN", at, payload: { a: 1 }, by: "me" });
    expect(later).toMatchObject({ status: 201, body: { dueAt: at } });
    const sooner = await schedule(path, { type: "KNOCK", delayMs: 60_000 });
    const { items } = (await call("GET", `${path}/schedule`)).body;
    expect(items).toMatchObject([
      { timerId: sooner.body.timerId, type: "KNOCK" },
      { timerId: later.body.timerId, type: "OPEN", payload: { a: 1 }, dueAt: at },
    ]);
    const target = `${path}/schedule/${later.body.timerId}`;
    expect((await call("DELETE", target)).status).toBe(204);
    expectProblem(await call("DELETE", target), 404, "timer_not_found");
    expect((await call("GET", `${path}/schedule`)).body.items).toHaveLength(1);
  });

  it("takes an instant of any offset", async () => {
    const path = await spawnDoor();
    const answer = await schedule(path, { type: "OPEN", at: "2090-06-01T12:00:00+02:00" });
    expect(answer.body.dueAt).toBe("2090-06-01T10:00:00.000Z");
  });

  it("acts once under one key", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const first = await schedule(path, { type: "OPEN", delayMs: 60_000 }, { key });
    const again = await schedule(path, { type: "OPEN", delayMs: 60_000 }, { key });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await call("GET", `${path}/schedule`)).body.items).toHaveLength(1);
  });

  it("of a bad request changes nothing", async () => {
    const path = await spawnDoor();
    const before = (await call("GET", path)).body;
    for (const body of [
      { type: "OPEN" },
      { type: "OPEN", delayMs: 1, at: "2090-01-01T00:00:00Z" },
      { type: "OPEN", delayMs: -1 },
      { type: "OPEN", delayMs: 1.5 },
      { type: "OPEN", delayMs: "5" },
      { type: "OPEN", delayMs: LIMITS.delayMs + 1 },
      { type: "OPEN", at: "tomorrow" },
      { type: "OPEN", at: "2026-13-01T00:00:00Z" },
      { type: "OPEN", at: "2026-01-01" },
      { type: "OPEN", at: 5 },
      { type: "OPEN", delayMs: 1, payload: { type: "x" } },
      { delayMs: 1 },
    ]) {
      expectProblem(await schedule(path, body), 400, "invalid_request");
    }
    expectProblem(await schedule(path, { type: "A", in: 5 }), 400, "unknown_field");
    expectProblem(
      await schedule(path, { type: "A", at: "9999-01-01T00:00:00Z" }),
      422,
      "limit_exceeded",
    );
    const keyless = await schedule(path, { type: "A", delayMs: 1 }, { key: null });
    expectProblem(keyless, 400, "idempotency_key_missing");
    expectProblem(
      await schedule("/v1/actors/nobody", { type: "A", delayMs: 1 }),
      404,
      "actor_not_found",
    );
    expect((await call("GET", path)).body).toEqual(before);
  });
});

describe("the development clock", () => {
  it("moves one actor's time on and fires what becomes due", async () => {
    const path = await spawnDoor();
    await call("POST", `${path}/events`, { body: { type: "OPEN" } });
    const advance = (ms: unknown) =>
      call("POST", `${path}/clock/advance`, { body: { ms }, key: null });
    expect((await advance(1_000)).body.stateValue).toBe("open");
    const closed = await advance(60_000);
    expect(closed.body.stateValue).toBe("closed");
    expect(closed.headers.get("ETag")).toBe(`"${closed.body.seq}"`);
    for (const ms of [-1, 1.5, "5", null, LIMITS.delayMs + 1]) {
      expectProblem(await advance(ms), 400, "invalid_request");
    }
    expectProblem(
      await call("POST", "/v1/actors/nobody/clock/advance", { body: { ms: 1 } }),
      404,
      "actor_not_found",
    );
  });
});
