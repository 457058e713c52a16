import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { given } from "../../src/base/refused.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { fresh } from "../support/api.ts";
import { bodyOf, registryObject } from "../support/registry.ts";
import {
  LEASE,
  MAPPED,
  Shards,
  SweepCalls,
  create,
  deploy,
  loan,
  loan2,
  ruleOf,
  surveyed,
} from "../support/rules.ts";
import { untilTrue } from "../support/until.ts";

const START = Date.parse("2091-01-01T00:00:00.000Z");

let tenant: string;
let registry: RegistryRpc;
let sweeps: SweepCalls;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  sweeps = new SweepCalls();
  tenant = fresh("tenant");
  registry = env.REGISTRY.getByName(tenant);
  await deploy(registry, "v1", loan("loan"));
});
afterEach(() => {
  sweeps.restore();
  vi.useRealTimers();
});

const rule = ruleOf({ stateMapping: MAPPED });
const second = (over: Parameters<typeof deploy>[3] = {}) =>
  deploy(registry, "v2", loan2("loan"), { parentId: "v1", rule, ...over });
const retire = (id: string) =>
  registry.changeRule({ id, change: "retire", key: null, lease: LEASE });
const refusal = (code: string, more: object = {}) => ({
  ok: false,
  failure: expect.objectContaining({ code, ...more }),
});
const rules = async () => given(await registry.rules());

describe("a deploy with a rule", () => {
  it("makes both, with one answer that says since when it is in force", async () => {
    const reply = await second();
    expect(reply).toMatchObject({ ok: true, status: 201 });
    const body = bodyOf(reply);
    const inForceAt = new Date(START + LEASE).toISOString();
    expect(body).toMatchObject({
      id: "v2",
      parentId: "v1",
      inForceAt,
      nearMisses: 0,
      idempotent: false,
      rule: { id: expect.stringMatching(/^r_/), from: "v1", to: "v2", ...rule, inForceAt },
    });
    const codes = body.warnings.map(({ code }: { code: string }) => code);
    expect(codes).not.toContain("lineage_only");
    const stored = { id: body.rule.id, from: "v1", to: "v2", toHash: body.hash };
    expect(await rules()).toMatchObject({ epoch: 1, rules: [stored] });
    expect(bodyOf(await registry.getDefinition("v2")).inForceAt).toBe(inForceAt);
    await untilTrue(() => sweeps.told.length > 0);
    expect(sweeps.told).toEqual([
      { name: `${tenant}/${body.rule.id}`, tenant, ruleId: body.rule.id, again: false },
    ]);
  });

  it("of the very same changes nothing, whatever became of the rule", async () => {
    const first = bodyOf(await second());
    const again = await second();
    expect(again).toMatchObject({ ok: true, status: 200 });
    const { nearMisses: _, ...shown } = first;
    expect(bodyOf(again)).toEqual({ ...shown, idempotent: true });
    const change = { percent: 5 };
    await registry.changeRule({ id: first.rule.id, change, key: null, lease: LEASE });
    expect(bodyOf(await second())).toMatchObject({ idempotent: true, rule: { percent: 5 } });
    await retire(first.rule.id);
    expect(bodyOf(await second())).toMatchObject({ idempotent: true, rule: { state: "retired" } });
    expect((await rules()).epoch).toBe(3);
  });

  it("under a taken id is refused and says what differs, the rule too", async () => {
    await second();
    const other = ruleOf({ historyPath: ["SUBMIT_INFO"] });
    const differs = { rule: { deployed: rule, sent: other } };
    expect(await second({ rule: other })).toMatchObject(
      refusal("definition_exists", {
        extra: { differs },
        detail: expect.stringContaining("/v1/migrations"),
      }),
    );
    const { rule: _, ...plain } = { rule };
    expect(await deploy(registry, "v2", loan2("loan"), { parentId: "v1", ...plain })).toMatchObject(
      refusal("definition_exists", {
        extra: { differs: { rule: { deployed: rule, sent: null } } },
      }),
    );
    const reply = await deploy(registry, "v2", loan("loan"), { parentId: "v1", rule });
    expect(reply).toMatchObject(refusal("definition_exists"));
    if (!reply.ok)
      expect(Object.keys(reply.failure.extra?.["differs"] ?? {})).toEqual(["definition"]);
    expect((await rules()).epoch).toBe(1);
  });

  it("records lineage alone where there is no rule, and says so", async () => {
    const body = bodyOf(await deploy(registry, "v2", loan2("loan"), { parentId: "v1" }));
    expect(body.rule).toBeNull();
    expect(body.inForceAt).toBe(body.deployedAt);
    expect(body.warnings.at(-1).code).toBe("lineage_only");
    expect(await rules()).toEqual({ epoch: 0, rules: [] });
  });

  it("needs a parent, which is there and of the same family", async () => {
    expect(await deploy(registry, "v2", loan2("loan"), { rule })).toMatchObject(
      refusal("invalid_request", { errors: [expect.objectContaining({ pointer: "/parentId" })] }),
    );
    expect(await second({ parentId: "v0" })).toMatchObject(refusal("parent_not_found"));
    expect(await deploy(registry, "c2", loan2("credit"), { parentId: "v1", rule })).toMatchObject(
      refusal("family_mismatch"),
    );
  });

  it("stores nothing where the rule is not valid, and names all that is wrong", async () => {
    const broken = ruleOf({
      historyPath: [],
      stateMapping: { reminded: "reminded", docz: "docs" },
    });
    expect(await second({ rule: broken })).toMatchObject(
      refusal("migration_invalid", {
        errors: [
          expect.objectContaining({ pointer: "/historyPath", code: "path_empty" }),
          expect.objectContaining({ pointer: "/stateMapping/reminded", code: "unknown_target" }),
          expect.objectContaining({
            pointer: "/stateMapping/docz",
            code: "unknown_state",
            message: expect.stringContaining("Did you mean 'docs'?"),
          }),
        ],
      }),
    );
    expect(await registry.getDefinition("v2")).toMatchObject(refusal("definition_not_found"));
    expect(await rules()).toEqual({ epoch: 0, rules: [] });
  });

  it("takes keys of mappings that objects inherit for what they are: unknown", async () => {
    const stateMapping = JSON.parse('{"__proto__": "docs", "constructor": "docs"}');
    expect(await second({ rule: ruleOf({ stateMapping }) })).toMatchObject(
      refusal("migration_invalid", {
        errors: [
          expect.objectContaining({ pointer: "/stateMapping/__proto__", code: "unknown_state" }),
          expect.objectContaining({ pointer: "/stateMapping/constructor", code: "unknown_state" }),
        ],
      }),
    );
  });

  it("goes through without a plan where the server keeps no directory", async () => {
    const shards = new Shards();
    shards.classes.push([surveyed("reminded", { match: 3 })]);
    await registry.shards({ fix: true });
    env.PERDURE_DIRECTORY = "off";
    try {
      const body = bodyOf(await second({ rule: ruleOf() }));
      expect(body.rule.id).toMatch(/^r_/);
      expect(body).not.toHaveProperty("nearMisses");
      expect(shards.asked).toEqual([]);
      const proposal = { id: "v3", definition: loan("loan"), parentId: "v2", replay: 0 };
      expect(await registry.preview({ ...proposal, rule })).toMatchObject(
        refusal("migration_invalid"),
      );
      expect(await registry.preview({ ...proposal, rule: ruleOf() })).toMatchObject(
        refusal("not_configured"),
      );
    } finally {
      delete env.PERDURE_DIRECTORY;
      shards.restore();
    }
  });
});

describe("a definition that a rule needs", () => {
  it("is not retired, at either end", async () => {
    const ruleId = bodyOf(await second()).rule.id;
    for (const id of ["v1", "v2"]) {
      expect(await registry.retireDefinition(id)).toMatchObject(
        refusal("definition_in_use", { extra: { ruleId } }),
      );
    }
    await retire(ruleId);
    expect(await registry.retireDefinition("v2")).toMatchObject({ ok: true, status: 204 });
    expect(await registry.retireDefinition("v1")).toMatchObject({ ok: true, status: 204 });
  });

  it("is not replaced, in development either", async () => {
    const ruleId = bodyOf(await second()).rule.id;
    const changed = { ...loan2("loan"), context: { n: 1 } };
    const detail = expect.stringContaining(ruleId);
    const replace = (id: string, parentId: string | null) =>
      deploy(registry, id, changed, { parentId, replaceable: true });
    expect(await replace("v2", "v1")).toMatchObject(refusal("definition_exists", { detail }));
    expect(await replace("v1", null)).toMatchObject(refusal("definition_exists", { detail }));
    await retire(ruleId);
    expect(bodyOf(await replace("v2", "v1"))).toMatchObject({ replaced: true, rule: null });
    const { toHash } = given(await registry.rulesFrom(["v1"]))[0] ?? {};
    expect(await registry.definitionByHash(toHash ?? "")).not.toBeNull();
    const renewed = await second({ replaceable: true });
    expect(bodyOf(renewed)).toMatchObject({ replaced: true, rule: { state: "sweeping" } });
    expect(bodyOf(await second({ replaceable: true })).idempotent).toBe(true);
  });

  it("keeps its content, since actors come to it without being spawned on it", async () => {
    await second();
    await runInDurableObject(registryObject(tenant), (_, { storage }) => {
      const [row] = storage.sql.exec("SELECT state FROM definitions WHERE id = 'v2'");
      expect(row).toEqual({ state: "used" });
    });
  });
});

describe("a spawn by family", () => {
  const goes = async (to: string) =>
    expect(await registry.acquire("loan")).toMatchObject({ ok: true, definition: { id: to } });
  const everyone = ruleOf({ match: "all", historyPath: [], stateMapping: MAPPED });

  it("goes along the rules that take everyone, once they are in force", async () => {
    const { id } = bodyOf(await second({ rule: everyone })).rule;
    await goes("v1");
    vi.setSystemTime(START + LEASE);
    await goes("v2");
    await deploy(registry, "v3", loan("loan"), {
      parentId: "v2",
      rule: ruleOf({ match: "all", historyPath: [], stateMapping: { income: "docs" } }),
    });
    await goes("v2");
    vi.setSystemTime(START + 2 * LEASE);
    await goes("v3");
    expect(await registry.acquire("v1")).toMatchObject({ ok: true, definition: { id: "v1" } });
    await registry.changeRule({ id, change: { percent: 99 }, key: null, lease: LEASE });
    await goes("v1");
    await registry.changeRule({ id, change: { percent: 100 }, key: null, lease: LEASE });
    await goes("v1");
    vi.setSystemTime(START + 3 * LEASE);
    await goes("v3");
    await registry.changeRule({ id, change: "pause", key: null, lease: LEASE });
    await goes("v1");
  });

  it("goes by no rule that looks at histories, and by the one that has taken everyone for longest", async () => {
    await second();
    vi.setSystemTime(START + LEASE);
    await goes("v1");
    const all = ruleOf({ match: "all", historyPath: [] });
    const to3 = bodyOf(await deploy(registry, "v3", loan("loan"), { parentId: "v1", rule: all }));
    await create(registry, { rule: everyone });
    vi.setSystemTime(START + 3 * LEASE);
    await goes("v3");
    for (const change of ["pause", "resume"] as const) {
      await registry.changeRule({ id: to3.rule.id, change, key: null, lease: LEASE });
    }
    vi.setSystemTime(START + 5 * LEASE);
    await goes("v2");
  });
});
