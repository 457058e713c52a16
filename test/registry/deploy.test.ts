import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { entryShard } from "../../src/directory/shards.ts";
import type { ActorStatus } from "../../src/lifecycle/types.ts";
import { given } from "../../src/base/refused.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { Db } from "../../src/storage/db.ts";
import { findBody, putDefinition } from "../../src/storage/registry-definitions.ts";
import { doorMachine, fresh } from "../support/api.ts";
import { entry as entryOf } from "../support/directory.ts";
import { bodyOf, registryObject } from "../support/registry.ts";

const door = (family = "door", more: object = {}) => doorMachine(family, more) as JsonObject;

let tenant: string;
let registry: RegistryRpc;

beforeEach(() => {
  tenant = fresh("tenant");
  registry = env.REGISTRY.getByName(tenant);
});

function deploy(
  id: string,
  definition: JsonObject,
  more: { parentId?: string; replaceable?: boolean } = {},
) {
  return registry.deploy({ id, definition, parentId: null, replaceable: false, ...more });
}

async function ids(): Promise<string[]> {
  const page = bodyOf(await registry.listDefinitions({ limit: 200, cursor: null }));
  return page.items.map((item: { id: string }) => item.id);
}

describe("a deploy", () => {
  it("stores a definition under its id, with the hash of its canonical JSON", async () => {
    const reply = await deploy("door-v1", door());
    expect(reply).toMatchObject({ ok: true, status: 201 });
    const body = bodyOf(reply);
    expect(body).toMatchObject({ id: "door-v1", family: "door", parentId: null, rule: null });
    expect(body.idempotent).toBe(false);
    expect(body.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(body.inForceAt).toBe(body.deployedAt);
    expect(bodyOf(await registry.getDefinition("door-v1")).definition).toEqual(door());
  });

  it("of the very same changes nothing, whatever the order of its members", async () => {
    const first = bodyOf(await deploy("door-v1", door()));
    const turned = Object.fromEntries(Object.entries(door()).reverse()) as JsonObject;
    const again = await deploy("door-v1", turned);
    expect(again).toMatchObject({ ok: true, status: 200 });
    expect(bodyOf(again)).toEqual({ ...first, idempotent: true });
  });

  it("under a taken id is refused and says what differs", async () => {
    await deploy("door-v1", door());
    const other = door("door", { initial: "open" });
    const reply = await deploy("door-v1", other);
    expect(reply).toMatchObject({ ok: false, failure: { code: "definition_exists" } });
    if (!reply.ok) {
      expect(reply.failure.extra?.["differs"]).toMatchObject({
        definition: {
          members: ["initial"],
          initialChanged: [{ state: "", from: "closed", to: "open" }],
        },
      });
    }
    expect(bodyOf(await registry.getDefinition("door-v1")).definition).toEqual(door());

    await deploy("door-v0", door("door", { context: { opened: 1 } }));
    const reparented = await deploy("door-v1", door(), { parentId: "door-v0" });
    expect(reparented).toMatchObject({
      ok: false,
      failure: {
        code: "definition_exists",
        extra: { differs: { parentId: { deployed: null, sent: "door-v0" } } },
      },
    });
  });

  it("of something invalid stores nothing", async () => {
    const broken = door("door", { initial: "nowhere" });
    const reply = await deploy("door-v1", broken);
    expect(reply).toMatchObject({ ok: false, failure: { code: "definition_invalid" } });
    if (!reply.ok) expect(reply.failure.errors?.length).toBeGreaterThan(0);
    expect(await ids()).toEqual([]);
  });

  it("is refused one byte past the size of a definition", async () => {
    const sized = (chars: number) => door("door", { description: "x".repeat(chars) });
    const rest = JSON.stringify(sized(0)).length;
    const fits = await deploy("door-v1", sized(LIMITS.definitionBytes - rest));
    expect(fits).toMatchObject({ ok: true, status: 201 });
    const reply = await deploy("door-v2", sized(LIMITS.definitionBytes - rest + 1));
    expect(reply).toMatchObject({
      ok: false,
      failure: { code: "limit_exceeded", extra: { limit: "definitionBytes" } },
    });
  });

  it("is refused past the number of definitions of a tenant", async () => {
    await deploy("door-v1", door());
    await runInDurableObject(registryObject(tenant), (_object, state) => {
      const db = new Db(state.storage);
      const { hash } = db.one<{ hash: string }>("SELECT hash FROM bodies")!;
      db.transaction(() => {
        for (let n = 2; n < LIMITS.definitionsPerTenant; n++) {
          putDefinition(db, {
            id: `many-${n}`,
            family: "door",
            hash,
            parent_id: null,
            deployed_at: 0,
            warnings: "[]",
          });
        }
      });
    });
    expect(await deploy("the-last", door())).toMatchObject({ ok: true, status: 201 });
    expect(await deploy("one-more", door())).toMatchObject({
      ok: false,
      failure: { code: "limit_exceeded", extra: { limit: "definitionsPerTenant" } },
    });
    expect(await deploy("the-last", door())).toMatchObject({ ok: true, status: 200 });
  });

  it("keeps keys like __proto__ and constructor as data", async () => {
    const context = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as JsonObject;
    const definition = door("door", { context: { opened: 0, odd: context } });
    await deploy("door-v1", definition);
    const { json } = given(await registry.resolve("door-v1"))!;
    expect(JSON.stringify((JSON.parse(json) as JsonObject)["context"])).toBe(
      '{"odd":{"__proto__":{"a":1},"constructor":2},"opened":0}',
    );
  });
});

describe("a deploy under the name of its family", () => {
  it("warns that the newest root is then out of reach", async () => {
    const { warnings } = bodyOf(await deploy("door", door()));
    expect(warnings).toContainEqual(
      expect.objectContaining({ pointer: "/id", code: "id_is_family" }),
    );
    const other = bodyOf(await deploy("door-v2", door()));
    expect(JSON.stringify(other.warnings)).not.toContain("id_is_family");
    expect(await registry.acquire("door")).toMatchObject({ ok: true, definition: { id: "door" } });
  });
});

describe("a deploy with a parent", () => {
  it("records where it comes from and warns that nobody moves", async () => {
    await deploy("door-v1", door());
    const changed = door("door", { context: { opened: 5 } });
    const body = bodyOf(await deploy("door-v2", changed, { parentId: "door-v1" }));
    expect(body.parentId).toBe("door-v1");
    expect(body.warnings.at(-1)).toMatchObject({ pointer: "/parentId", code: "lineage_only" });
    expect(bodyOf(await deploy("door-v2", changed, { parentId: "door-v1" }))).toEqual({
      ...body,
      idempotent: true,
    });
  });

  it("that does not exist is refused", async () => {
    expect(await deploy("door-v2", door(), { parentId: "door-v1" })).toMatchObject({
      ok: false,
      failure: { code: "parent_not_found" },
    });
    expect(await deploy("door-v2", door(), { parentId: "door-v2" })).toMatchObject({
      ok: false,
      failure: { code: "parent_not_found" },
    });
    expect(await ids()).toEqual([]);
  });

  it("of another family is refused", async () => {
    await deploy("gate-v1", door("gate"));
    expect(await deploy("door-v1", door(), { parentId: "gate-v1" })).toMatchObject({
      ok: false,
      failure: { code: "family_mismatch" },
    });
    expect(await ids()).toEqual(["gate-v1"]);
  });
});

describe("an unused definition", () => {
  it("is replaced in development only, and its old body goes", async () => {
    const { hash } = bodyOf(await deploy("door-v1", door()));
    const other = door("door", { context: { opened: 7 } });
    expect(await deploy("door-v1", other)).toMatchObject({ ok: false });
    const reply = await deploy("door-v1", other, { replaceable: true });
    expect(reply).toMatchObject({ ok: true, status: 200 });
    expect(bodyOf(reply)).toMatchObject({ replaced: true, idempotent: false });
    expect(bodyOf(await registry.getDefinition("door-v1")).definition).toEqual(other);
    await runInDurableObject(registryObject(tenant), (_object, state) => {
      expect(findBody(new Db(state.storage), hash)).toBeNull();
    });
  });

  it("is not replaced by one of another family while others descend from it", async () => {
    await deploy("door-v1", door());
    await deploy("door-v2", door("door", { context: { opened: 2 } }), { parentId: "door-v1" });
    expect(await deploy("door-v1", door("gate"), { replaceable: true })).toMatchObject({
      ok: false,
      failure: { code: "family_mismatch" },
    });
  });

  it("is not made its own ancestor", async () => {
    await deploy("door-v1", door());
    await deploy("door-v2", door("door", { context: { opened: 2 } }), { parentId: "door-v1" });
    expect(
      await deploy("door-v1", door(), { parentId: "door-v2", replaceable: true }),
    ).toMatchObject({ ok: false, failure: { code: "parent_not_found" } });
  });

  it("can be retired; its name stays taken and old logs can still be read", async () => {
    const { hash } = bodyOf(await deploy("door-v1", door()));
    expect(await registry.retireDefinition("door-v1")).toMatchObject({ ok: true, status: 204 });
    expect(await ids()).toEqual([]);
    expect(await registry.getDefinition("door-v1")).toMatchObject({
      ok: false,
      failure: { code: "definition_not_found" },
    });
    expect(await registry.acquire("door-v1")).toMatchObject({ ok: false });
    expect(await registry.retireDefinition("door-v1")).toMatchObject({ ok: false });
    for (const replaceable of [true, false]) {
      expect(await deploy("door-v1", door(), { replaceable })).toMatchObject({
        ok: false,
        failure: { code: "definition_exists" },
      });
    }
    expect(await deploy("door-v2", door(), { parentId: "door-v1" })).toMatchObject({
      ok: false,
      failure: { code: "parent_not_found" },
    });
    expect(given(await registry.resolve("door-v1"))?.hash).toBe(hash);
    expect(await registry.definitionByHash(hash)).not.toBeNull();
  });
});

describe("a used definition", () => {
  const other = door("door", { context: { opened: 7 } });

  beforeEach(async () => {
    await deploy("door-v1", door());
    await registry.acquire("door-v1");
  });

  async function stands(id: string, status: ActorStatus): Promise<void> {
    const entry = entryOf({ id, definitionId: "door-v1", family: "door", status });
    const count = given(await registry.shards({ fix: true })) as number;
    const shard = env.DIRECTORY.getByName(entryShard(tenant, count, id));
    expect(await shard.put(entry)).toMatchObject({ ok: true });
  }

  it.each(["active", "done", "error", "terminated"] as const)(
    "is not replaced while an actor stands on it that is %s",
    async (status) => {
      await stands("a", status);
      const reply = await deploy("door-v1", other, { replaceable: true });
      expect(reply).toMatchObject({ ok: false, failure: { code: "definition_exists" } });
      if (!reply.ok) expect(reply.failure.detail).toContain("Actors stand on it");
    },
  );

  it("is replaced when none stands on it any more, and keeps the old content for those on their way", async () => {
    const { hash } = given(await registry.resolve("door-v1"))!;
    expect(await deploy("door-v1", other)).toMatchObject({ ok: false });
    const reply = await deploy("door-v1", other, { replaceable: true });
    expect(bodyOf(reply)).toMatchObject({ replaced: true });
    expect(await registry.definitionByHash(hash)).not.toBeNull();
    expect(given(await registry.resolve("door-v1"))?.hash).not.toBe(hash);
  });

  it.each(["active", "paused", "stranded"] as const)(
    "is not retired while an actor stands on it that is %s",
    async (status) => {
      await stands("a", status);
      await stands("b", "done");
      expect(await registry.retireDefinition("door-v1")).toMatchObject({
        ok: false,
        failure: { code: "definition_in_use", extra: { unfinished: 1 } },
      });
      expect(await ids()).toEqual(["door-v1"]);
    },
  );

  it.each(["done", "error", "terminated"] as const)(
    "is retired when all actors on it have ended: %s",
    async (status) => {
      await stands("a", status);
      const { hash } = given(await registry.resolve("door-v1"))!;
      expect(await registry.retireDefinition("door-v1")).toMatchObject({ ok: true, status: 204 });
      expect(await registry.definitionByHash(hash)).not.toBeNull();
      expect(await registry.acquire("door-v1")).toMatchObject({ ok: false });
    },
  );

  it("is neither retired nor replaced where no directory could tell who stands on it", async () => {
    await runInDurableObject(registryObject(tenant), async (object) => {
      const { env: bindings } = object as unknown as { env: { PERDURE_DIRECTORY?: string } };
      bindings.PERDURE_DIRECTORY = "off";
      try {
        const command = { id: "door-v1", definition: other, parentId: null, replaceable: true };
        expect(await object.deploy(command)).toMatchObject({ ok: false });
        expect(await object.retireDefinition("door-v1")).toMatchObject({
          ok: false,
          failure: { code: "definition_in_use" },
        });
        await object.deploy({ ...command, id: "door-v2" });
        expect(await object.retireDefinition("door-v2")).toMatchObject({ ok: true });
      } finally {
        delete bindings.PERDURE_DIRECTORY;
      }
    });
  });

  it("is retired once by two calls at once, and replaced by one after the other", async () => {
    const retired = await Promise.all([1, 2].map(() => registry.retireDefinition("door-v1")));
    expect(retired.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
    await deploy("door-v2", door("door", { context: { opened: 2 } }));
    const replies = await Promise.all(
      [3, 4].map((opened) =>
        deploy("door-v2", door("door", { context: { opened } }), { replaceable: true }),
      ),
    );
    const { definition } = bodyOf(await registry.getDefinition("door-v2"));
    expect(replies.some(({ ok }) => ok)).toBe(true);
    const wanted = replies.findLastIndex(({ ok }) => ok) === 0 ? 3 : 4;
    expect(definition.context.opened).toBe(wanted);
  });

  it("costs one row at its first use and none later", async () => {
    await deploy("door-v2", door("door", { context: { opened: 2 } }));
    await runInDurableObject(registryObject(tenant), async (object, state) => {
      const rows = async () => {
        const db = new Db(state.storage);
        await object.acquire("door-v2");
        return db.one<{ n: number }>("SELECT total_changes() AS n")!.n;
      };
      const first = await rows();
      expect(await rows()).toBe(first);
      expect(await rows()).toBe(first);
    });
  });
});

describe("a family", () => {
  it("stands for its newest definition without a parent", async () => {
    await deploy("door-v1", door());
    await deploy("door-v2", door("door", { context: { opened: 2 } }), { parentId: "door-v1" });
    expect(await registry.acquire("door")).toMatchObject({ definition: { id: "door-v1" } });
    await deploy("door-v3", door("door", { context: { opened: 3 } }));
    expect(await registry.acquire("door")).toMatchObject({ definition: { id: "door-v3" } });
    expect(await registry.acquire("gate")).toMatchObject({
      ok: false,
      failure: { code: "definition_not_found" },
    });
  });

  it("gives way to a definition of the same name", async () => {
    await deploy("door", door());
    await deploy("door-v2", door("door", { context: { opened: 2 } }));
    expect(await registry.acquire("door")).toMatchObject({ definition: { id: "door" } });
  });

  it("takes no event type whose code another of its types has, in whatever version", async () => {
    // A known collision of 32-bit FNV-1a.
    const accepting = (type: string) =>
      door("door", { states: { closed: { on: { [type]: "gone" } }, gone: { type: "final" } } });
    await deploy("door-v1", accepting("costarring"));
    await registry.retireDefinition("door-v1");
    const reply = await deploy("door-v2", accepting("liquid"));
    expect(reply).toMatchObject({
      ok: false,
      failure: { code: "definition_invalid", errors: [{ code: "event_code_clash" }] },
    });
    if (!reply.ok) expect(reply.failure.errors?.[0]?.message).toMatch(/liquid.*costarring/);
    const elsewhere = { ...accepting("liquid"), id: "gate" };
    expect(await deploy("gate-v1", elsewhere)).toMatchObject({ ok: true, status: 201 });
  });
});

describe("the list of definitions", () => {
  it("goes from the newest to the oldest in pages", async () => {
    const all = Array.from({ length: 5 }, (_, n) => `door-v${n}`);
    for (const id of all) await deploy(id, door());
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = bodyOf(await registry.listDefinitions({ limit: 2, cursor }));
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map((item: { id: string }) => item.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(all.toReversed());
    expect(await registry.listDefinitions({ limit: 2, cursor: "made-up" })).toMatchObject({
      ok: false,
      failure: { code: "cursor_invalid" },
    });
  });
});
