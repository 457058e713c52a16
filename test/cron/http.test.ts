import { beforeAll, describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { Tenant } from "../support/cron.ts";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await Tenant.create();
});

const send = { actorId: "a", type: "ADD" };
const yearly = "0 0 1 1 *";

describe("a schedule", () => {
  test("without an id has one made of tenant and key, and a repeat finds the same", async () => {
    const body = { cron: yearly, send };
    const key = fresh("key");
    const first = await tenant.call("POST", "/v1/schedules", body, key);
    expect(first.status).toBe(201);
    expect(first.body.id).toMatch(/^s_[0-9a-f]{32}$/);
    expect(first.headers.get("Location")).toBe(`/v1/schedules/${first.body.id}`);
    const again = await tenant.call("POST", "/v1/schedules", body, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    const other = await tenant.call("POST", "/v1/schedules", { cron: "0 1 1 1 *", send }, key);
    expectProblem(other, 422, "idempotency_key_reused");
  });

  test("takes an id that is free, and a refused key may be used again", async () => {
    await tenant.schedule({ id: "taken", cron: yearly, send });
    const key = fresh("key");
    const refused = await tenant.call(
      "POST",
      "/v1/schedules",
      { id: "taken", cron: yearly, send },
      key,
    );
    expectProblem(refused, 409, "schedule_exists");
    const mended = await tenant.call(
      "POST",
      "/v1/schedules",
      { id: "free", cron: yearly, send },
      key,
    );
    expect(mended.status).toBe(201);
  });

  test("deleted, is a 404, and a late repeat of its creation gives no second life", async () => {
    const key = fresh("key");
    const body = { id: "brief", cron: yearly, send };
    expect((await tenant.call("POST", "/v1/schedules", body, key)).status).toBe(201);
    expect((await tenant.call("DELETE", "/v1/schedules/brief")).status).toBe(204);
    expect((await tenant.call("POST", "/v1/schedules", body, key)).status).toBe(201);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/runs"],
      ["POST", "/pause"],
      ["POST", "/resume"],
    ]) {
      const answer = await tenant.call(method as string, `/v1/schedules/brief${path}`);
      expectProblem(answer, 404, "schedule_not_found");
    }
  });

  test("keeps what it was given", async () => {
    const spawn = {
      definitionId: "counter",
      input: [1, null],
      context: { n: 2 },
      refs: { a: "b" },
    };
    const body = { cron: "0 9 * * MON#1", timezone: "Asia/Kathmandu", catchUp: "one", spawn };
    const made = await tenant.schedule(body);
    expect(made).toMatchObject({ ...body, send: null, state: "active" });
    expect(await tenant.read(made.id)).toEqual(made);
  });
});

describe("lists", () => {
  test("of schedules go from the newest to the oldest, page by page", async () => {
    const other = await Tenant.create();
    const ids = Array.from({ length: 5 }, (_, index) => `s${index}`);
    for (const id of ids) await other.schedule({ id, cron: yearly, send });
    const found: string[] = [];
    let query = "?limit=2";
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await other.call("GET", `/v1/schedules${query}`);
      found.push(...body.items.map(({ id }: { id: string }) => id));
      query = `?limit=2&cursor=${body.nextCursor}`;
      expect(body.nextCursor === null).toBe(pages === 2);
    }
    expect(found).toEqual(ids.toReversed());
  });

  test("refuse cursors of other lists", async () => {
    const other = await Tenant.create();
    for (const id of ["a", "b"]) await other.schedule({ id, cron: yearly, send });
    const { nextCursor } = (await other.call("GET", "/v1/schedules?limit=1")).body;
    for (const path of ["/v1/schedules/a/runs", "/v1/keys", "/v1/definitions"]) {
      const answer = await other.call("GET", `${path}?cursor=${nextCursor}`);
      expectProblem(answer, 400, "cursor_invalid");
    }
  });

  test("where there is nothing are empty, and write nothing", async () => {
    const other = await Tenant.create();
    const answer = await other.call("GET", "/v1/schedules");
    expect(answer.body).toMatchObject({ items: [], nextCursor: null });
    expectProblem(await other.call("GET", "/v1/schedules/x"), 404, "schedule_not_found");
    expectProblem(await other.call("POST", "/v1/schedules/x/pause"), 404, "schedule_not_found");
    const bad = { cron: "nonsense", send };
    expectProblem(await other.call("POST", "/v1/schedules", bad), 400, "invalid_request");
    expect(await other.sql("SELECT name FROM sqlite_master")).toEqual([]);
    expect(await other.alarm()).toBeNull();
  });
});

describe("a request", () => {
  test("is told how long an id may be", async () => {
    const spec = { id: "a b", cron: yearly, send };
    const answer = await tenant.call("POST", "/v1/schedules", spec);
    expectProblem(answer, 400, "invalid_request");
    expect(answer.body.detail).toContain("1 to 120 of the characters");
  });

  test.each([
    [{ cron: "0 0 30 2 *", send }, 400, "invalid_request", "/cron", "never_due"],
    [{ cron: "every day", send }, 400, "invalid_request", "/cron", "invalid_cron"],
    [{ cron: "*/2 * * * * *", send }, 400, "invalid_request", "/cron", "too_frequent"],
    [
      { cron: yearly, timezone: "CEST", send },
      400,
      "invalid_request",
      "/timezone",
      "unknown_timezone",
    ],
    [{ cron: yearly }, 400, "invalid_request", "", "custom"],
    [
      { cron: yearly, send, spawn: { definitionId: "counter" } },
      400,
      "invalid_request",
      "",
      "custom",
    ],
    [
      { cron: yearly, send: { actorId: "a", type: "xstate.init" } },
      400,
      "event_type_reserved",
      "/send/type",
      "event_type_reserved",
    ],
    [
      { cron: yearly, send: { actorId: "a", type: "ADD", payload: { type: "x" } } },
      400,
      "invalid_request",
      "/send/payload/type",
      "reserved",
    ],
    [
      { cron: yearly, send: { actorId: "ref:x", type: "ADD" } },
      400,
      "invalid_request",
      "/send/actorId",
      "custom",
    ],
    [
      { cron: yearly, spawn: { definitionId: "unknown" } },
      404,
      "definition_not_found",
      "/spawn/definitionId",
      "definition_not_found",
    ],
  ])("%o is refused with what to mend", async (body, status, code, pointer, why) => {
    const answer = await tenant.call("POST", "/v1/schedules", body);
    expectProblem(answer, status, code);
    expect(answer.body.errors).toMatchObject([{ pointer, code: why }]);
  });

  test("is taken at the limits and refused one past them", async () => {
    const long = "i".repeat(LIMITS.scheduleIdChars);
    await tenant.schedule({ id: long, cron: yearly, send });
    const over = await tenant.call("POST", "/v1/schedules", { id: `${long}i`, cron: yearly, send });
    expectProblem(over, 400, "invalid_request");

    const cron = `0 0 1 ${"1,".repeat((LIMITS.cronChars - 9) / 2)}1 *`;
    expect(cron.length).toBe(LIMITS.cronChars - 1);
    await tenant.schedule({ cron: `${cron} `, send });
    const longer = await tenant.call("POST", "/v1/schedules", { cron: `${cron}  `, send });
    expectProblem(longer, 400, "invalid_request");

    const empty = JSON.stringify({ spawn: null, send: { ...send, payload: { x: "" } } }).length;
    const payload = { x: "x".repeat(LIMITS.scheduleBytes - empty) };
    await tenant.schedule({ cron: yearly, send: { ...send, payload } });
    const more = await tenant.call("POST", "/v1/schedules", {
      cron: yearly,
      send: { ...send, payload: { x: `${payload.x}x` } },
    });
    expectProblem(more, 422, "limit_exceeded");
    expect(more.body.limit).toBe("scheduleBytes");
  });

  test("needs its scope", async () => {
    const body = { label: "reader", scopes: ["read"] };
    const reader = (await tenant.call("POST", "/v1/keys", body)).body.key;
    const made = await tenant.schedule({ cron: yearly, send });
    const path = `/v1/schedules/${made.id}`;
    for (const [method, at] of [
      ["POST", "/v1/schedules"],
      ["DELETE", path],
      ["POST", `${path}/pause`],
      ["POST", `${path}/resume`],
    ]) {
      expectProblem(
        await call(method as string, at as string, { apiKey: reader }),
        403,
        "forbidden",
      );
    }
    for (const at of ["/v1/schedules", path, `${path}/runs`]) {
      expect((await call("GET", at, { apiKey: reader })).status).toBe(200);
    }
  });

  test("of another tenant meets none of these", async () => {
    const other = await Tenant.create();
    const made = await tenant.schedule({ cron: yearly, send });
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/runs"],
      ["POST", "/pause"],
      ["POST", "/resume"],
    ]) {
      const answer = await other.call(method as string, `/v1/schedules/${made.id}${path}`);
      expectProblem(answer, 404, "schedule_not_found");
    }
    await other.schedule({ id: made.id, cron: yearly, send });
    expect((await tenant.read(made.id)).state).toBe("active");
  });
});

test("tables of a newer version are refused with both numbers", async () => {
  const other = await Tenant.create();
  await other.schedule({ id: "x", cron: yearly, send });
  await other.sql("UPDATE schema SET version = 9");
  await other.evict();
  const answer = await other.call("GET", "/v1/schedules");
  expectProblem(answer, 503, "unavailable");
  expect(answer.body.detail).toMatch(/version 9.* 1\b/);
});
