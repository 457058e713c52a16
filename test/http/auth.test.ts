import { env } from "cloudflare:workers";
import { listDurableObjectIds } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { newKeyId, newSecret } from "../../src/registry/api-key.ts";
import { call, deployDoor, doorMachine, expectProblem, fresh } from "../support/api.ts";

const ADMIN_KEY = "a-random-text-of-some-length";
const production: Partial<Env> = {
  PERDURE_PROFILE: "production",
  PERDURE_ADMIN_KEY: ADMIN_KEY,
};

async function makeKey(body: object, options: { apiKey?: string } = {}) {
  const answer = await call("POST", "/v1/keys", {
    ...options,
    body: { label: "test", ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body as { key: string; id: string };
}

describe("an API key", () => {
  it("is sent as a bearer token or in X-API-Key", async () => {
    for (const headers of [
      { Authorization: "Bearer dev" },
      { Authorization: "bearer  dev" },
      { "X-API-Key": "dev" },
    ]) {
      const answer = await call("GET", "/v1/definitions", { apiKey: null, headers });
      expect(answer.status).toBe(200);
    }
  });

  it("that is missing or opens nothing is a 401 with a challenge", async () => {
    const wellFormed = `pk_default_${newKeyId()}_${newSecret()}`;
    for (const headers of [
      {},
      { Authorization: "" },
      { Authorization: "dev" },
      { Authorization: "Basic ZGV2" },
      { Authorization: "Bearer " },
      { Authorization: "Bearer prod" },
      { Authorization: `Bearer ${"x".repeat(10_000)}` },
      { "X-API-Key": wellFormed },
    ]) {
      const answer = await call("GET", "/v1/definitions", { apiKey: null, headers });
      expectProblem(answer, 401, "unauthorized");
      expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
      expect(JSON.stringify(answer.body)).not.toContain(wellFormed);
    }
  });

  it("is asked for before the body is looked at", async () => {
    const answer = await call("PUT", "/v1/definitions", { apiKey: null, body: "{" });
    expectProblem(answer, 401, "unauthorized");
  });

  it("of a tenant that does not exist brings no object into being", async () => {
    const namespace = env.REGISTRY as unknown as DurableObjectNamespace;
    const ids = async () => (await listDurableObjectIds(namespace)).map(String).toSorted();
    await call("GET", "/v1/definitions");
    // The default registry is asked whether the tenant exists.
    await call("GET", "/v1/definitions", { apiKey: `pk_unseen_${newKeyId()}_${newSecret()}` });
    const before = await ids();
    for (const apiKey of [
      `pk_invented_${newKeyId()}_${newSecret()}`,
      `pk_invented-${fresh("x").slice(0, 20)}_${newKeyId()}_${newSecret()}`,
      "pk_invented_short",
      "../../default",
    ]) {
      expectProblem(await call("GET", "/v1/definitions", { apiKey }), 401, "unauthorized");
    }
    expect(await ids()).toEqual(before);
  });
});

describe("scopes", () => {
  const path = "/v1/actors/nobody";
  const calls = {
    read: ["GET", path],
    write: ["POST", `${path}/pause`],
    deploy: ["DELETE", "/v1/definitions/nothing"],
    admin: ["DELETE", "/v1/keys/nothing"],
  } as const;

  it("allow what they name and nothing else", async () => {
    for (const scope of ["read", "write", "deploy"] as const) {
      const { key } = await makeKey({ scopes: [scope] });
      for (const [needed, [method, target]] of Object.entries(calls)) {
        const answer = await call(method, target, { apiKey: key });
        if (needed === scope) expect(answer.status).toBe(404);
        else expectProblem(answer, 403, "forbidden");
      }
    }
  });

  it("are all included in admin", async () => {
    const { key } = await makeKey({ scopes: ["admin"] });
    for (const [method, target] of Object.values(calls)) {
      expect((await call(method, target, { apiKey: key })).status).toBe(404);
    }
  });

  it("are looked at before the body", async () => {
    const { key } = await makeKey({ scopes: ["read"] });
    const answer = await call("PUT", "/v1/definitions", { apiKey: key, body: "{" });
    expectProblem(answer, 403, "forbidden");
    expect(answer.body.detail).toContain("deploy");
  });

  it("let a reader validate, play scenarios, replay, wait and export", async () => {
    const { key } = await makeKey({ scopes: ["read"] });
    const body = { definition: doorMachine("door") };
    const options = { apiKey: key, body };
    expect((await call("POST", "/v1/definitions/validate", options)).status).toBe(200);
    const scenario = { ...body, scenarios: [{ name: "s", events: ["OPEN"] }] };
    expect(
      (await call("POST", "/v1/definitions/scenario", { apiKey: key, body: scenario })).status,
    ).toBe(200);
    for (const [method, target] of [
      ["POST", `${path}/replay`],
      ["GET", `${path}/wait?done=true`],
      ["GET", `${path}/export`],
    ] as const) {
      expectProblem(await call(method, target, { apiKey: key }), 404, "actor_not_found");
    }
  });
});

describe("production", () => {
  it("without an admin key answers 503 and says how to configure it", async () => {
    for (const more of [{}, { PERDURE_ADMIN_KEY: "" }, { PERDURE_ADMIN_KEY: "fifteen-chars-x" }]) {
      const unconfigured = { PERDURE_PROFILE: "production", ...more } as Partial<Env>;
      for (const apiKey of ["dev", null, "fifteen-chars-x"]) {
        const answer = await call("GET", "/v1/definitions", { apiKey, env: unconfigured });
        expectProblem(answer, 503, "not_configured");
        expect(answer.body.detail).toContain("PERDURE_ADMIN_KEY");
      }
      expect((await call("GET", "/v1/health", { env: unconfigured })).status).toBe(200);
      expect((await call("GET", "/openapi.json", { env: unconfigured })).status).toBe(200);
    }
  });

  it("is what runs when no profile is named", async () => {
    const unnamed = { PERDURE_PROFILE: undefined } as unknown as Partial<Env>;
    expectProblem(await call("GET", "/v1/definitions", { env: unnamed }), 503, "not_configured");
  });

  it("does not know the key dev", async () => {
    expectProblem(await call("GET", "/v1/definitions", { env: production }), 401, "unauthorized");
  });

  it("opens to the admin key of its configuration, and to no other", async () => {
    const right = { env: production, apiKey: ADMIN_KEY };
    expect((await call("GET", "/v1/keys", right)).status).toBe(200);
    for (const apiKey of [`${ADMIN_KEY}x`, ADMIN_KEY.slice(1), ADMIN_KEY.toUpperCase()]) {
      expectProblem(
        await call("GET", "/v1/keys", { env: production, apiKey }),
        401,
        "unauthorized",
      );
    }
  });

  it("replaces no definition", async () => {
    const options = { env: production, apiKey: ADMIN_KEY };
    const id = await deployDoor(options);
    const body = { id, definition: doorMachine("another") };
    expectProblem(
      await call("PUT", "/v1/definitions", { ...options, body }),
      409,
      "definition_exists",
    );
  });

  it("has no development clock", async () => {
    const options = { env: { ...production, PERDURE_TEST_CLOCK: "0" }, apiKey: ADMIN_KEY };
    const answer = await call("POST", "/v1/actors/a/clock/advance", {
      ...options,
      body: { ms: 1 },
    });
    expectProblem(answer, 404, "not_found");
    expect(answer.body.detail).toContain("only on development servers");
    expectProblem(
      await call("POST", "/v1/actors/a/clock/advance", { ...options, apiKey: null }),
      404,
      "not_found",
    );
  });
});

describe("a checked key", () => {
  it("is trusted for 30 seconds at most without asking again", async () => {
    const { key, id } = await makeKey({ scopes: ["read"] });
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(now);
    expect((await call("GET", "/v1/definitions", { apiKey: key })).status).toBe(200);
    // Revoked behind the back of this isolate.
    await env.REGISTRY.getByName("default").revokeKey(id);
    expect((await call("GET", "/v1/definitions", { apiKey: key })).status).toBe(200);
    clock.mockReturnValue(now + 29_999);
    expect((await call("GET", "/v1/definitions", { apiKey: key })).status).toBe(200);
    clock.mockReturnValue(now + 30_000);
    expectProblem(await call("GET", "/v1/definitions", { apiKey: key }), 401, "unauthorized");
    clock.mockRestore();
  });

  it("is not trusted beyond its expiry", async () => {
    const expiresAt = Date.now() + 3_600_000;
    const { key } = await makeKey({
      scopes: ["read"],
      expiresAt: new Date(expiresAt).toISOString(),
    });
    const clock = vi.spyOn(Date, "now").mockReturnValue(expiresAt - 1);
    expect((await call("GET", "/v1/definitions", { apiKey: key })).status).toBe(200);
    clock.mockReturnValue(expiresAt);
    expectProblem(await call("GET", "/v1/definitions", { apiKey: key }), 401, "unauthorized");
    clock.mockRestore();
  });

  it("that opened nothing is asked about again", async () => {
    const { key, id } = await makeKey({ scopes: ["read"] });
    const rotated = await call("POST", `/v1/keys/${id}/rotate`);
    expectProblem(await call("GET", "/v1/definitions", { apiKey: key }), 401, "unauthorized");
    const options = { apiKey: rotated.body.key };
    expect((await call("GET", "/v1/definitions", options)).status).toBe(200);
  });
});
