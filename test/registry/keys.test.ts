import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { sha256Hex } from "../../src/base/sha256.ts";
import { parseApiKey } from "../../src/registry/api-key.ts";
import type { RegistryRpc, Scope } from "../../src/registry/rpc.ts";
import { Db } from "../../src/storage/db.ts";
import { rememberAnswer } from "../../src/storage/answers.ts";
import { fresh } from "../support/api.ts";
import { bodyOf, registryObject } from "../support/registry.ts";

let tenant: string;
let registry: RegistryRpc;

beforeEach(() => {
  tenant = fresh("tenant").slice(0, 40);
  registry = env.REGISTRY.getByName(tenant);
});

const command = (more: object = {}) => ({
  label: "ci",
  scopes: ["read", "write"] as Scope[],
  expiresAt: null,
  tenant,
  key: fresh("key"),
  request: "r",
  ...more,
});

async function principalOf(text: string) {
  const { keyId, secret } = parseApiKey(text)!;
  return registry.authenticate({ keyId, secretHash: await sha256Hex(secret) });
}

describe("a key", () => {
  it("opens its tenant with its scopes, and its secret is stored nowhere", async () => {
    const { key, id } = bodyOf(await registry.createKey(command()));
    expect(await principalOf(key)).toEqual({
      tenant,
      keyId: id,
      scopes: ["read", "write"],
      bootstrap: false,
      expiresAt: null,
    });
    await runInDurableObject(registryObject(tenant), (_object, state) => {
      const db = new Db(state.storage);
      const stored = JSON.stringify([
        db.all("SELECT * FROM keys"),
        db.all("SELECT * FROM answers"),
      ]);
      expect(stored).toContain(id);
      expect(stored).not.toContain(parseApiKey(key)!.secret);
    });
  });

  it("opens nothing with another secret, or under another id", async () => {
    const { key, id } = bodyOf(await registry.createKey(command()));
    const { secret } = parseApiKey(key)!;
    const secretHash = await sha256Hex(`${secret.slice(0, -1)}!`);
    expect(await registry.authenticate({ keyId: id, secretHash })).toBeNull();
    const right = await sha256Hex(secret);
    expect(await registry.authenticate({ keyId: "other0000000", secretHash: right })).toBeNull();
    expect(await registry.authenticate({ keyId: id, secretHash: "" })).toBeNull();
  });

  it("opens nothing after its expiry", async () => {
    const expiresAt = Date.now() + 3_600_000;
    const { key } = bodyOf(await registry.createKey(command({ expiresAt })));
    expect(await principalOf(key)).toMatchObject({ expiresAt });
    const clock = vi.spyOn(Date, "now").mockReturnValue(expiresAt - 1);
    expect(await principalOf(key)).not.toBeNull();
    clock.mockReturnValue(expiresAt);
    expect(await principalOf(key)).toBeNull();
    clock.mockRestore();
  });

  it("that would be expired already is not made", async () => {
    expect(await registry.createKey(command({ expiresAt: 1 }))).toMatchObject({
      ok: false,
      failure: { code: "invalid_request" },
    });
    expect(bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items).toEqual([]);
  });

  it("opens nothing once revoked, and stays listed", async () => {
    const { key, id } = bodyOf(await registry.createKey(command()));
    expect(await registry.revokeKey(id)).toMatchObject({ ok: true, status: 204 });
    expect(await principalOf(key)).toBeNull();
    const [item] = bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items;
    expect(item).toMatchObject({ id, label: "ci" });
    expect(item.revokedAt).not.toBeNull();
    expect(await registry.revokeKey(id)).toMatchObject({ ok: true, status: 204 });
    const [same] = bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items;
    expect(same.revokedAt).toBe(item.revokedAt);
    expect(await registry.rotateKey({ id, key: fresh("key"), request: "r" })).toMatchObject({
      ok: false,
      failure: { code: "key_not_found" },
    });
  });

  it("that does not exist is not revoked", async () => {
    expect(await registry.revokeKey("nothing")).toMatchObject({
      ok: false,
      failure: { code: "key_not_found" },
    });
  });

  it("gets a new secret by rotation, and the old one opens nothing", async () => {
    const first = bodyOf(await registry.createKey(command()));
    const rotated = bodyOf(
      await registry.rotateKey({ id: first.id, key: fresh("key"), request: "r" }),
    );
    expect(rotated.id).toBe(first.id);
    expect(rotated.rotatedAt).not.toBeNull();
    expect(await principalOf(first.key)).toBeNull();
    expect(await principalOf(rotated.key)).toMatchObject({ keyId: first.id });
  });

  it("is refused past the number of keys that open something", async () => {
    const { id } = bodyOf(await registry.createKey(command()));
    await runInDurableObject(registryObject(tenant), (_object, state) => {
      const db = new Db(state.storage);
      db.run(
        `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO keys (id, position, tenant, label, scopes, secret_hash, created_at)
         SELECT 'k' || i, i, 't', 'l', 'read', 'h', 0 FROM n`,
        LIMITS.keysPerTenant,
      );
    });
    expect(await registry.createKey(command())).toMatchObject({
      ok: false,
      failure: { code: "limit_exceeded", extra: { limit: "keysPerTenant" } },
    });
    await registry.revokeKey(id);
    expect(await registry.createKey(command())).toMatchObject({ ok: true, status: 201 });
  });
});

describe("a keyed call on the registry", () => {
  it("answers its repeat as before, without the secret", async () => {
    const sent = command();
    const first = bodyOf(await registry.createKey(sent));
    const again = await registry.createKey(sent);
    expect(again).toMatchObject({ ok: true, status: 201, replayed: true });
    const { key, ...shown } = first;
    expect(key).toBeTruthy();
    expect(bodyOf(again)).toEqual({ ...shown, secretShown: true });
    expect(bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items).toHaveLength(1);

    const rotation = { id: first.id, key: fresh("key"), request: "r" };
    const rotated = bodyOf(await registry.rotateKey(rotation));
    expect(bodyOf(await registry.rotateKey(rotation))).toMatchObject({ secretShown: true });
    expect(await principalOf(rotated.key)).not.toBeNull();
  });

  it("acts once when it is made twice at the same time", async () => {
    const sent = command();
    const replies = await Promise.all([registry.createKey(sent), registry.createKey(sent)]);
    expect(replies.filter((reply) => reply.ok && reply.replayed)).toHaveLength(1);
    expect(bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items).toHaveLength(1);
  });

  it("refuses the key of another request, of whichever kind", async () => {
    const sent = command();
    const { id } = bodyOf(await registry.createKey(sent));
    const refused = { ok: false, failure: { code: "idempotency_key_reused" } };
    expect(await registry.createKey({ ...sent, request: "other" })).toMatchObject(refused);
    expect(await registry.rotateKey({ id, key: sent.key, request: "other" })).toMatchObject(
      refused,
    );
    expect(bodyOf(await registry.listKeys({ limit: 10, cursor: null })).items).toHaveLength(1);
  });

  it("keeps no refusal, so the key can be used after mending", async () => {
    const sent = command({ expiresAt: 1 });
    await registry.createKey(sent);
    expect(await registry.createKey({ ...sent, expiresAt: null, request: "mended" })).toMatchObject(
      { ok: true, status: 201 },
    );
  });

  it("forgets old answers a few at a time, and never one of the last 30 days", async () => {
    await registry.createKey(command());
    const old = Date.now() - LIMITS.collectionKeyMs - 1_000;
    const count = () =>
      runInDurableObject(
        registryObject(tenant),
        (_object, state) => new Db(state.storage).all("SELECT key FROM answers").length,
      );
    await runInDurableObject(registryObject(tenant), (_object, state) => {
      const db = new Db(state.storage);
      for (let n = 0; n < 50; n++) {
        rememberAnswer(db, { key: `old-${n}`, request: "r", status: 201, body: "{}", at: old });
      }
      rememberAnswer(db, {
        key: "young",
        request: "r",
        status: 201,
        body: "{}",
        at: old + 60_000,
      });
    });
    const counts = [await count()];
    for (let n = 0; n < 3; n++) {
      await registry.createKey(command());
      counts.push(await count());
    }
    expect(counts).toEqual([52, 33, 14, 5]);
    expect(await registry.createKey(command({ key: "young" }))).toMatchObject({ replayed: true });
  });
});

describe("a tenant", () => {
  it("is known once it was noted", async () => {
    expect(await registry.knowsTenant("acme")).toBe(false);
    await registry.noteTenant("acme");
    await registry.noteTenant("acme");
    expect(await registry.knowsTenant("acme")).toBe(true);
    expect(await registry.knowsTenant("acm")).toBe(false);
  });
});
