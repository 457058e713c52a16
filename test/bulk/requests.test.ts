import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { bulkId, bulkObject, startedBulk } from "../support/bulk.ts";

const filter = { family: "nobody" };

describe("what is refused", () => {
  it.each([
    [{ filter: {}, action: "pause" }, "filter_empty"],
    [{ filter: { refs: {} }, action: "pause" }, "filter_empty"],
    [{ action: "pause" }, "invalid_request"],
    [{ filter: null, action: "pause" }, "invalid_request"],
    [{ filter: { colour: "red" }, action: "pause" }, "unknown_field"],
    [{ filter, action: "pause", reason: "x" }, "unknown_field"],
    [{ filter, action: "explode" }, "invalid_request"],
    [{ filter: { status: "tired" }, action: "pause" }, "invalid_request"],
    [{ filter: { updatedAfter: "yesterday" }, action: "pause" }, "invalid_request"],
    [{ filter: { attention: "loud" }, action: "pause" }, "invalid_request"],
    [{ filter: { refs: { a: "1" }, "ref.a": "2" }, action: "pause" }, "invalid_request"],
    [{ filter: { "ref.a": 2 }, action: "pause" }, "invalid_request"],
    [{ filter: { "ref.__proto__": "2" }, action: "pause" }, "invalid_request"],
    [{ filter: { refs: [], "ref.a": "1" }, action: "pause" }, "invalid_request"],
    [{ filter, action: "send" }, "invalid_request"],
    [{ filter, action: "send", type: "@perdure.x" }, "event_type_reserved"],
    [{ filter, action: "send", type: "A", payload: { type: "B" } }, "invalid_request"],
    [{ filter, action: "pause", type: "A" }, "invalid_request"],
    [{ filter, action: "pause", payload: {} }, "invalid_request"],
  ])("%j: %s", async (body, code) => {
    expectProblem(await call("POST", "/v1/bulk", { body }), 400, code);
  });

  it("names the members of a filter to who guesses one", async () => {
    const body = { filter: { sttus: "done" }, action: "pause" };
    const answer = await call("POST", "/v1/bulk", { body });
    expect(answer.body.detail).toContain("Did you mean");
    expect(answer.body.detail).toContain("updatedAfter");
  });

  it("says which member of a filter does not fit", async () => {
    for (const [given, said] of [
      [{ "ref.a": 2 }, "/filter/ref.a must be a string."],
      [{ refs: { a: "1" }, "ref.a": "2" }, "/filter/ref.a has another value than in refs."],
      [JSON.parse('{"ref.__proto__": "1"}'), "/filter/ref.__proto__ cannot have this name."],
      [{ refs: JSON.parse('{"__proto__": "1"}') }, "/filter/refs cannot have a name __proto__."],
    ] as const) {
      const answer = await call("POST", "/v1/bulk", { body: { filter: given, action: "pause" } });
      expect(answer.body.detail).toBe(`The body does not fit: ${said}`);
    }
  });

  it("has as many references as a list's query, in both spellings together", async () => {
    const some = Array.from({ length: LIMITS.refsPerFilter - 1 }, (_, n) => [`n${n}`, "1"]);
    const filterOf = (...more: string[]) => ({
      refs: Object.fromEntries(some),
      "ref.n0": "1",
      ...Object.fromEntries(more.map((name) => [`ref.${name}`, "1"])),
    });
    await startedBulk({ filter: filterOf("a"), action: "pause" });
    const body = { filter: filterOf("a", "b"), action: "pause" };
    const many = await call("POST", "/v1/bulk", { body });
    expectProblem(many, 422, "limit_exceeded");
    expect(many.body).toMatchObject({ limit: "refsPerFilter", most: LIMITS.refsPerFilter });
  });

  it("needs a key and the scope", async () => {
    const body = { filter, action: "pause" };
    expectProblem(
      await call("POST", "/v1/bulk", { body, key: null }),
      400,
      "idempotency_key_missing",
    );
    const label = { label: "looks", scopes: ["read"] };
    const { key: apiKey } = (await call("POST", "/v1/keys", { body: label })).body;
    expectProblem(await call("POST", "/v1/bulk", { body, apiKey }), 403, "forbidden");
  });

  it("takes every member, and shows them as they were given", async () => {
    const all = {
      definitionId: "door-v1",
      family: "door",
      status: "active",
      state: "closed",
      tag: "passable",
      attention: false,
      updatedAfter: "2026-01-31T12:00:00.000Z",
      refs: { house: "1" },
    };
    const id = await startedBulk({ filter: all, action: "pause" });
    expect((await call("GET", `/v1/bulk/${id}`)).body.filter).toEqual(all);
  });
});

describe("an operation that is not there", () => {
  it.each(["b_1", "x", "..%2F", bulkId()])("is a 404: %s", async (id) => {
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/items"],
      ["POST", "/cancel"],
    ] as const) {
      const answer = await call(method, `/v1/bulk/${id}${path}`);
      expectProblem(answer, 404, "bulk_not_found");
    }
  });

  it("is not written by being asked for", async () => {
    const id = bulkId();
    await call("GET", `/v1/bulk/${id}`);
    await call("GET", `/v1/bulk/${id}/items`);
    await call("POST", `/v1/bulk/${id}/cancel`);
    const left = await runInDurableObject(bulkObject(id), async (_, state) => [
      state.storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
      await state.storage.getAlarm(),
    ]);
    expect(left).toEqual([[], null]);
  });

  it("wakes no object when no operation can have the id", async () => {
    const BULK = {
      getByName: () => {
        throw new Error("woken");
      },
    };
    const answer = await call("GET", "/v1/bulk/b_1", { env: { ...env, BULK } as never });
    expectProblem(answer, 404, "bulk_not_found");
  });

  it("is another tenant's", async () => {
    const body = { label: "all", scopes: ["admin"], tenant: fresh("t").slice(0, 30) };
    const apiKey = (await call("POST", "/v1/keys", { body })).body.key;
    const key = fresh("key");
    const id = await startedBulk({ filter, action: "pause" }, key);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/items"],
      ["POST", "/cancel"],
    ] as const) {
      const answer = await call(method, `/v1/bulk/${id}${path}`, { apiKey });
      expectProblem(answer, 404, "bulk_not_found");
    }
    // The same key of another tenant is another operation.
    const theirs = await call("POST", "/v1/bulk", {
      body: { filter, action: "pause" },
      key,
      apiKey,
    });
    expect(theirs.status).toBe(202);
    expect(theirs.body.id).not.toBe(id);
  });

  it("has no page behind a cursor of another list", async () => {
    const id = await startedBulk({ filter, action: "pause" });
    expectProblem(await call("GET", `/v1/bulk/${id}/items?cursor=abc`), 400, "cursor_invalid");
  });
});
