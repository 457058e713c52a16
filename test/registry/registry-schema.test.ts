import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { PerdureError } from "../../src/base/errors.ts";
import { resolveMachine } from "../../src/registry/definition-cache.ts";
import { given } from "../../src/base/refused.ts";
import { Db } from "../../src/storage/db.ts";
import { REGISTRY_VERSION, openRegistry } from "../../src/storage/registry-schema.ts";
import { storedVersion } from "../../src/storage/schema.ts";
import { fresh } from "../support/api.ts";
import { registryObject } from "../support/registry.ts";

function tables(db: Db): string[] {
  const rows = db.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  );
  return rows.map(({ name }) => name);
}

describe("a registry's tables", () => {
  it("are not made by reading", async () => {
    const name = fresh("tenant");
    const registry = env.REGISTRY.getByName(name);
    await registry.listDefinitions({ limit: 10, cursor: null });
    await registry.getDefinition("x");
    await registry.retireDefinition("x");
    await registry.acquire("x");
    await registry.resolve("x");
    await registry.definitionByHash("x");
    await registry.listKeys({ limit: 10, cursor: null });
    await registry.revokeKey("x");
    await registry.authenticate({ keyId: "x", secretHash: "x" });
    await registry.knowsTenant("x");
    expect(await registry.rules()).toEqual({ epoch: 0, rules: [] });
    expect(await registry.rulesFrom(["x"])).toEqual([]);
    expect(await registry.rule("x")).toBeNull();
    await registry.deploy({
      id: "x",
      definition: { id: "no states and no type" },
      parentId: null,
      replaceable: true,
    });
    await runInDurableObject(registryObject(name), (_object, state) => {
      const db = new Db(state.storage);
      expect(tables(db)).toEqual([]);
      expect(storedVersion(db)).toBe(0);
    });
  });

  it("are made once, at this code's version", async () => {
    await runInDurableObject(registryObject(fresh("tenant")), (_object, state) => {
      const db = new Db(state.storage);
      openRegistry(db);
      const written = db.meter.rowsWritten;
      openRegistry(db);
      expect(db.meter.rowsWritten).toBe(written);
      expect(storedVersion(db)).toBe(REGISTRY_VERSION);
      expect(tables(db)).toContain("definitions");
    });
  });

  it("of a newer version are refused with both numbers and left alone", async () => {
    await runInDurableObject(registryObject(fresh("tenant")), (_object, state) => {
      const db = new Db(state.storage);
      openRegistry(db);
      db.run("UPDATE schema SET version = ?", REGISTRY_VERSION + 6);
      expect(() => openRegistry(db)).toThrow(
        new RegExp(`version ${REGISTRY_VERSION + 6}.*versions up to ${REGISTRY_VERSION}`),
      );
      expect(storedVersion(db)).toBe(REGISTRY_VERSION + 6);
    });
  });

  it("of a newer version are refused as data, whatever is asked", async () => {
    const name = fresh("tenant");
    await runInDurableObject(registryObject(name), (_object, state) => {
      const db = new Db(state.storage);
      openRegistry(db);
      db.run("UPDATE schema SET version = ?", REGISTRY_VERSION + 6);
    });
    const registry = env.REGISTRY.getByName(name);
    const refused = {
      ok: false,
      failure: {
        code: "unavailable",
        detail: expect.stringMatching(
          new RegExp(`version ${REGISTRY_VERSION + 6}.*versions up to ${REGISTRY_VERSION}`),
        ),
      },
    };
    expect(await registry.getDefinition("x")).toEqual(refused);
    expect(await registry.acquire("x")).toEqual(refused);
    expect(await registry.noteTenant("x")).toEqual(refused);
    expect(await registry.knowsTenant("x")).toEqual(refused);
    const principal = await registry.authenticate({ keyId: "x", secretHash: "x" });
    expect(principal).toEqual(refused);
    expect(() => given(principal)).toThrow(PerdureError);
    expect(given(null)).toBeNull();
    await expect(resolveMachine(registry, "x")).rejects.toThrow("Deploy the newer version");
  });

  it("refuse words that are in no list", async () => {
    await runInDurableObject(registryObject(fresh("tenant")), (_object, state) => {
      const db = new Db(state.storage);
      openRegistry(db);
      db.run("INSERT INTO bodies (hash, json) VALUES ('h', '{}')");
      const insert = (stateWord: string, position: number) =>
        db.run(
          `INSERT INTO definitions (id, position, family, hash, parent_id, state, deployed_at, warnings)
           VALUES (?, ?, 'f', 'h', NULL, ?, 0, '[]')`,
          `d${position}`,
          position,
          stateWord,
        );
      insert("used", 1);
      expect(() => insert("borrowed", 2)).toThrow(/CHECK/);
    });
  });
});
