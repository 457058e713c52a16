import { env as realEnv } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Env } from "../../src/env.ts";
import type { Rule, RuleSet } from "../../src/migration/rule.ts";
import { forgetRules, knownRules, readyRule, rulesOf } from "../../src/registry/rule-cache.ts";
import { fresh } from "../support/api.ts";

type Asked = Pick<Env, "REGISTRY" | "PERDURE_PROFILE">;

function rule(id: string, from: string, more: Partial<Rule> = {}): Rule {
  return {
    id,
    from,
    to: "v9",
    toHash: "hash",
    historyPath: ["A"],
    match: "prefix",
    since: "birth",
    onUnmappable: "stay",
    stateMapping: {},
    contextMapping: {},
    position: 1,
    percent: 100,
    state: "active",
    inForceAt: 0,
    ramp: [],
    ...more,
  };
}

/** A registry that answers what it is given, and counts. */
function registryOf(answer: () => RuleSet | Promise<RuleSet>): { env: Asked; asked: () => number } {
  let asked = 0;
  const rules = async () => {
    asked += 1;
    return await answer();
  };
  const REGISTRY = { getByName: () => ({ rules }) } as unknown as Env["REGISTRY"];
  return { env: { REGISTRY, PERDURE_PROFILE: "production" }, asked: () => asked };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe("an isolate's rules", () => {
  test("are asked for once per lease, however many actors want them", async () => {
    const tenant = fresh("t");
    const { env, asked } = registryOf(() => ({ epoch: 3, rules: [rule("r_1", "v1")] }));
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
    const all = await Promise.all(Array.from({ length: 20 }, () => rulesOf(env, tenant, 0)));
    expect(asked()).toBe(1);
    expect(new Set(all).size).toBe(1);
    later(LIMITS.leaseMs - 1);
    expect(knownRules(tenant, 3, Date.now())).toBe(all[0]);
    later(1);
    expect(knownRules(tenant, 3, Date.now())).toBeNull();
    // The next lease is of the same epoch: nothing is compiled again.
    expect(await rulesOf(env, tenant, 0)).toBe(all[0]);
    expect(asked()).toBe(2);
  });

  test("are leased from before the question", async () => {
    const tenant = fresh("t");
    const { env } = registryOf(() => {
      later(LIMITS.leaseMs);
      return { epoch: 1, rules: [] };
    });
    await rulesOf(env, tenant, 0);
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
  });

  test("are never older than the epoch asked for", async () => {
    const tenant = fresh("t");
    let epoch = 4;
    const { env, asked } = registryOf(() => ({ epoch, rules: [] }));
    expect((await rulesOf(env, tenant, 0)).epoch).toBe(4);
    expect(knownRules(tenant, 5, Date.now())).toBeNull();
    await expect(rulesOf(env, tenant, 5)).rejects.toMatchObject({
      failure: { code: "unavailable" },
    });
    epoch = 5;
    expect((await rulesOf(env, tenant, 5)).epoch).toBe(5);
    expect(asked()).toBe(3);
    // An answer that is late does not bring back what was.
    epoch = 2;
    later(LIMITS.leaseMs);
    expect((await rulesOf(env, tenant, 0)).epoch).toBe(2);
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
  });

  test("are forgotten at once where a change was made, also by who was asking then", async () => {
    const tenant = fresh("t");
    let answer = Promise.withResolvers<RuleSet>();
    const { env, asked } = registryOf(() => answer.promise);
    const asking = rulesOf(env, tenant, 0);
    forgetRules(tenant);
    answer.resolve({ epoch: 1, rules: [] });
    expect((await asking).epoch).toBe(1);
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
    answer = Promise.withResolvers<RuleSet>();
    answer.resolve({ epoch: 2, rules: [] });
    expect((await rulesOf(env, tenant, 0)).epoch).toBe(2);
    forgetRules(tenant);
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
    expect(asked()).toBe(2);
  });

  test("are remembered when another tenant's are forgotten meanwhile", async () => {
    const tenant = fresh("t");
    const answer = Promise.withResolvers<RuleSet>();
    const { env } = registryOf(() => answer.promise);
    const asking = rulesOf(env, tenant, 0);
    forgetRules(fresh("t"));
    answer.resolve({ epoch: 1, rules: [] });
    const rules = await asking;
    expect(knownRules(tenant, 0, Date.now())).toBe(rules);
  });

  test("are none where the registry is of the version before, except to who has gone by some", async () => {
    const tenant = fresh("t");
    const older = { getByName: () => realEnv.DIRECTORY.getByName(fresh("shard")) };
    const env = { REGISTRY: older as never, PERDURE_PROFILE: "production" } as Asked;
    expect(await rulesOf(env, tenant, 0)).toMatchObject({ epoch: 0 });
    expect((await rulesOf(env, tenant, 0)).from("v1")).toEqual([]);
    await expect(rulesOf(env, tenant, 1)).rejects.toMatchObject({
      failure: { code: "unavailable" },
    });
    const { env: newer } = registryOf(() => ({ epoch: 1, rules: [rule("r_1", "v1")] }));
    later(LIMITS.leaseMs);
    expect((await rulesOf(newer, tenant, 0)).from("v1")).toHaveLength(1);
  });

  test("are not had when the registry cannot be asked, and the next one asks again", async () => {
    const tenant = fresh("t");
    let down = true;
    const { env } = registryOf(() => {
      if (down) throw new Error("down");
      return { epoch: 1, rules: [] };
    });
    await expect(rulesOf(env, tenant, 0)).rejects.toThrow("down");
    expect(knownRules(tenant, 0, Date.now())).toBeNull();
    down = false;
    expect((await rulesOf(env, tenant, 0)).epoch).toBe(1);
  });

  test("are found by the definition that they are about, in their order, ready to decide", async () => {
    const tenant = fresh("t");
    const set = [rule("r_1", "v1"), rule("r_2", "__proto__"), rule("r_3", "v1")];
    const { env } = registryOf(() => ({ epoch: 1, rules: set }));
    const rules = await rulesOf(env, tenant, 0);
    expect(rules.from("v1").map((ready) => ready.rule.id)).toEqual(["r_1", "r_3"]);
    expect(rules.from("__proto__").map((ready) => ready.rule.id)).toEqual(["r_2"]);
    expect(rules.from("constructor")).toEqual([]);
    expect([...rules.from("v1")[0]!.compiled.names]).toEqual(["A"]);
  });

  test("that this version cannot read keep anything from being decided", () => {
    const unknown = rule("r_1", "v1", { match: "regex" as never });
    expect(() => readyRule(unknown)).toThrow("cannot read the migration rule 'r_1'");
  });
});
