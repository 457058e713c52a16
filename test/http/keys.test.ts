import { describe, expect, it } from "vitest";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { CallOptions } from "../support/api.ts";

const label = "a build server";

async function makeKey(body: object = {}, options: CallOptions = {}) {
  const sent = { label, scopes: ["read"], ...body };
  return call("POST", "/v1/keys", { body: sent, ...options });
}

async function listed(apiKey = "dev"): Promise<{ id: string }[]> {
  return (await call("GET", "/v1/keys?limit=200", { apiKey })).body.items;
}

describe("keys", () => {
  it("are shown once and then only described", async () => {
    const { status, body } = await makeKey({ scopes: ["write", "read"] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ label, scopes: ["read", "write"], tenant: "default" });
    expect(body.key).toMatch(/^pk_default_/);
    const item = (await listed()).find(({ id }) => id === body.id);
    const { key: _, ...described } = body;
    expect(item).toEqual(described);
  });

  it("are never shown in a replay", async () => {
    const key = fresh("key");
    const first = await makeKey({}, { key });
    const again = await makeKey({}, { key });
    expect(again.status).toBe(201);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual({ ...first.body, key: undefined, secretShown: true });
    expect(JSON.stringify(again.body)).not.toContain("pk_");
    expectProblem(await makeKey({ label: "other" }, { key }), 422, "idempotency_key_reused");
  });

  it("are made once by two requests at the same time", async () => {
    const key = fresh("key");
    const answers = await Promise.all([makeKey({}, { key }), makeKey({}, { key })]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.key)).toHaveLength(1);
  });

  it("open nothing after they are revoked", async () => {
    const { body } = await makeKey();
    const options = { apiKey: body.key };
    expect((await call("GET", "/v1/definitions", options)).status).toBe(200);
    expect((await call("DELETE", `/v1/keys/${body.id}`)).status).toBe(204);
    expectProblem(await call("GET", "/v1/definitions", options), 401, "unauthorized");
    expect((await call("DELETE", `/v1/keys/${body.id}`)).status).toBe(204);
  });

  it("get a new secret by rotation, shown once", async () => {
    const { body } = await makeKey();
    const key = fresh("key");
    await call("GET", "/v1/definitions", { apiKey: body.key });
    const rotated = await call("POST", `/v1/keys/${body.id}/rotate`, { key });
    expect(rotated.status).toBe(200);
    expect(rotated.body.id).toBe(body.id);
    expectProblem(await call("GET", "/v1/definitions", { apiKey: body.key }), 401, "unauthorized");
    const again = await call("POST", `/v1/keys/${body.id}/rotate`, { key });
    expect(again.body).toMatchObject({ id: body.id, secretShown: true });
    const options = { apiKey: rotated.body.key };
    expect((await call("GET", "/v1/definitions", options)).status).toBe(200);
  });

  it("that do not exist are a 404", async () => {
    expectProblem(await call("DELETE", "/v1/keys/nothing"), 404, "key_not_found");
    expectProblem(await call("POST", "/v1/keys/nothing/rotate"), 404, "key_not_found");
  });

  it("are not made of a bad request, nor without an Idempotency-Key", async () => {
    const before = await listed();
    for (const body of [
      { label: "" },
      { label: "x".repeat(501) },
      { scopes: [] },
      { scopes: ["root"] },
      { scopes: "read" },
      { tenant: "Not A Tenant" },
      { tenant: "a/b" },
      { expiresAt: "tomorrow" },
      { expiresAt: 5 },
      { expiresAt: "2001-01-01T00:00:00.000Z" },
    ]) {
      expectProblem(await makeKey(body), 400, "invalid_request");
    }
    expectProblem(await makeKey({ secret: "mine" }), 400, "unknown_field");
    const answer = await makeKey({}, { key: null });
    expectProblem(answer, 400, "idempotency_key_missing");
    expect(answer.body.detail).toMatch(/Idempotency-Key: \S+/);
    expectProblem(await makeKey({}, { key: "a key" }), 400, "idempotency_key_invalid");
    expect(await listed()).toEqual(before);
  });

  it("let a request be mended under the same Idempotency-Key", async () => {
    const key = fresh("key");
    expectProblem(
      await makeKey({ expiresAt: "2001-01-01T00:00:00Z" }, { key }),
      400,
      "invalid_request",
    );
    expect((await makeKey({ expiresAt: "2101-01-01T00:00:00Z" }, { key })).status).toBe(201);
  });
});

describe("tenants", () => {
  it("are made by the bootstrap admin alone", async () => {
    const tenant = fresh("t").slice(0, 30);
    const { body } = await makeKey({ tenant, scopes: ["admin"] });
    expect(body.key).toContain(`pk_${tenant}_`);
    expect((await listed(body.key)).map(({ id }) => id)).toEqual([body.id]);

    const other = { tenant: "default", scopes: ["admin"] };
    expectProblem(await makeKey(other, { apiKey: body.key }), 403, "forbidden");
    const own = await makeKey({ tenant, scopes: ["read"] }, { apiKey: body.key });
    expect(own.body.tenant).toBe(tenant);
    const implied = await makeKey({}, { apiKey: body.key });
    expect(implied.body.tenant).toBe(tenant);
  });

  it("never see or touch each other's keys", async () => {
    const tenant = fresh("t").slice(0, 30);
    const admin = (await makeKey({ tenant, scopes: ["admin"] })).body;
    const ours = (await makeKey()).body;
    const options = { apiKey: admin.key };
    expect((await listed(admin.key)).map(({ id }) => id)).not.toContain(ours.id);
    expectProblem(await call("DELETE", `/v1/keys/${ours.id}`, options), 404, "key_not_found");
    expectProblem(await call("POST", `/v1/keys/${ours.id}/rotate`, options), 404, "key_not_found");
    expect((await call("GET", "/v1/definitions", { apiKey: ours.key })).status).toBe(200);
    // The id of a key with another tenant in front of it opens nothing either.
    const forged = ours.key.replace("pk_default_", `pk_${tenant}_`);
    expectProblem(await call("GET", "/v1/definitions", { apiKey: forged }), 401, "unauthorized");
  });
});
