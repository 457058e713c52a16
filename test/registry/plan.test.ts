import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { given } from "../../src/base/refused.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { fresh } from "../support/api.ts";
import { bodyOf, registryObject } from "../support/registry.ts";
import {
  MAPPED,
  Shards,
  SweepCalls,
  create,
  deploy,
  loan,
  loan2,
  ruleOf,
  surveyed,
  twoVersions,
} from "../support/rules.ts";

const START = Date.parse("2091-01-01T00:00:00.000Z");

let tenant: string;
let registry: RegistryRpc;
let sweeps: SweepCalls;
let shards: Shards;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  sweeps = new SweepCalls();
  shards = new Shards();
  ({ tenant, registry } = await twoVersions());
  await registry.shards({ fix: true });
});
afterEach(() => {
  shards.restore();
  sweeps.restore();
  vi.useRealTimers();
});

const proposal = { from: "v1", to: "v2", rule: ruleOf(), replaces: null };
const preview = async (over: Partial<typeof proposal> = {}, replay = 0) =>
  bodyOf(await registry.preview({ ...proposal, ...over, replay }));
const samples = (match: string[]) => ({ match, pending: [], diverged: [], near: [] });
const epoch = async () => given(await registry.rules()).epoch;

/** So many actors that match where the second version has no place for them. */
function stuck(count: number): void {
  shards.classes[0] = [surveyed("reminded", { match: count, samples: samples(["a", "b"]) })];
}

const unconfirmed = (reason?: string) => ({
  ok: false,
  failure: {
    code: "migration_needs_confirmation",
    extra: {
      plan: expect.objectContaining({ confirmToken: expect.any(String) }),
      ...(reason && { reason }),
    },
  },
});

describe("a preview", () => {
  it("asks every shard about the rule that is proposed, not about those that there are", async () => {
    await create(registry, { rule: ruleOf({ historyPath: ["SUBMIT_INFO"] }) });
    shards.asked.length = 0;
    const rule = ruleOf({
      historyPath: ["SUBMIT_INFO", "!X", "UPLOAD"],
      match: "subsequence",
      percent: 5,
    });
    await preview({ rule });
    expect(shards.asked.map(({ name }) => name)).toEqual(
      Array.from({ length: shards.asked.length }, (_, number) => `${tenant}/${number}`),
    );
    expect(shards.asked.length).toBe(given(await registry.shards({ fix: false })));
    const { name: _, alphabet, ...query } = shards.asked[0] ?? { name: "" };
    expect(query).toEqual({
      ruleId: null,
      from: "v1",
      historyPath: rule.historyPath,
      match: "subsequence",
      since: "birth",
      percent: 5,
      samples: LIMITS.planSamples,
    });
    expect(alphabet).toEqual(expect.arrayContaining(["APPROVE", "CHECK", "@timer:docs:3600000"]));
  });

  it("says who lands where, who cannot and why, and what becomes of timers", async () => {
    shards.classes[0] = [
      surveyed("docs", { match: 2, pending: 1, near: 1, samples: samples(["p", "q"]) }),
      surveyed("reminded", { match: 1, samples: samples(["r"]) }),
    ];
    shards.classes[1] = [surveyed("docs", { match: 1, diverged: 4, samples: samples(["s"]) })];
    const plan = await preview({}, 3);
    expect(plan).toEqual({
      total: 9,
      match: 4,
      pending: 1,
      diverged: 4,
      nearMisses: 1,
      byState: [
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: null,
          count: 4,
          class: "diverged",
        },
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: "docs",
          count: 3,
          class: "match",
        },
        {
          definitionId: "v1",
          stateValue: "docs",
          targetStateValue: null,
          count: 1,
          class: "pending",
        },
        {
          definitionId: "v1",
          stateValue: "reminded",
          targetStateValue: null,
          count: 1,
          class: "match",
        },
      ],
      unmappable: [
        {
          stateValue: "reminded",
          reason: expect.stringMatching(/^state_missing: .*'reminded'/),
          count: 1,
          sampleIds: ["r"],
        },
      ],
      unmappableTotal: 1,
      timers: { kept: 3, cancelled: 0, started: 3 },
      activities: { kept: 0, cancelled: 0, started: 0 },
      sampleIds: { match: ["p", "r", "s", "q"], pending: [], diverged: [], nearMisses: [] },
      warnings: [expect.objectContaining({ code: "unmapped_state" })],
      replaySample: ["p", "r", "s"],
      confirmToken: expect.stringMatching(/^pct_/),
      asOf: new Date(START).toISOString(),
    });
    const mapped = await preview({ rule: ruleOf({ stateMapping: MAPPED }) });
    expect(mapped).toMatchObject({ unmappable: [], unmappableTotal: 0, replaySample: [] });
    expect(await epoch()).toBe(0);
  });

  it("of a deploy is the plan of its rule, and of one that moves nobody an empty one", async () => {
    stuck(2);
    const definition = loan2("loan");
    const deployment = { id: "v3", definition, parentId: "v1", replay: 0 };
    expect(bodyOf(await registry.preview({ ...deployment, rule: ruleOf() }))).toMatchObject({
      match: 2,
      unmappableTotal: 2,
    });
    expect(bodyOf(await registry.preview({ ...deployment, rule: null }))).toMatchObject({
      total: 0,
    });
    const same = { ...deployment, id: "v2", rule: null };
    expect(bodyOf(await registry.preview(same))).toMatchObject({ total: 0 });
    expect(await registry.getDefinition("v3")).toMatchObject({ ok: false });
  });

  it("is refused as the call itself would be", async () => {
    const codeOf = async (command: Parameters<RegistryRpc["preview"]>[0]) => {
      const reply = await registry.preview(command);
      return reply.ok ? null : reply.failure.code;
    };
    const deployment = {
      id: "v3",
      definition: loan2("loan"),
      parentId: "v1",
      rule: ruleOf(),
      replay: 0,
    };
    expect(await codeOf({ ...deployment, parentId: "v0" })).toBe("parent_not_found");
    expect(await codeOf({ ...deployment, parentId: null })).toBe("invalid_request");
    const broken = { ...loan2("loan"), initial: "nowhere" };
    expect(await codeOf({ ...deployment, definition: broken })).toBe("definition_invalid");
    expect(await codeOf({ ...deployment, definition: loan("credit") })).toBe("family_mismatch");
    expect(await codeOf({ ...deployment, rule: ruleOf({ historyPath: [] }) })).toBe(
      "migration_invalid",
    );
    expect(await codeOf({ ...proposal, replay: 0, to: "v9" })).toBe("definition_not_found");
    expect(await codeOf({ ...proposal, replay: 0, replaces: "r_0" })).toBe("rule_not_found");
    await create(registry);
    expect(await codeOf({ ...proposal, replay: 0 })).toBe("rule_exists");
    // Nobody stands on it, so that in development it would be replaced if no rule needed it.
    expect(await codeOf({ ...deployment, id: "v2" })).toBe("definition_exists");
  });

  it("is refused where a shard cannot answer", async () => {
    shards.restore();
    const failure = { code: "unavailable", detail: "injected" };
    const broken = { survey: async () => ({ ok: false, failure }) };
    const real = env.DIRECTORY;
    const put = (value: unknown) =>
      Object.defineProperty(env, "DIRECTORY", { configurable: true, value });
    put({ getByName: () => broken });
    const replies = [await registry.preview({ ...proposal, replay: 0 }), await create(registry)];
    put(real);
    for (const reply of replies)
      expect(reply).toMatchObject({ ok: false, failure: { code: "unavailable" } });
    expect(await epoch()).toBe(0);
  });
});

describe("a rule that some actors cannot follow", () => {
  it("is made once somebody has confirmed that, by the plan's own token", async () => {
    stuck(3);
    const refused = await create(registry);
    expect(refused).toMatchObject(unconfirmed());
    if (refused.ok) throw new Error("Not refused");
    expect(refused.failure.extra).not.toHaveProperty("reason");
    expect(refused.failure.extra?.["plan"]).toMatchObject({ unmappable: [{ count: 3 }] });
    expect(await epoch()).toBe(0);
    const { plan } = refused.failure.extra as { plan: { confirmToken: string } };
    const { confirmToken } = plan;
    expect(await create(registry, { confirmToken })).toMatchObject({ ok: true, status: 201 });
    expect(await epoch()).toBe(1);
  });

  it("strands them as little without being confirmed", async () => {
    stuck(1);
    const rule = ruleOf({ onUnmappable: "strand" });
    expect(await create(registry, { rule })).toMatchObject(unconfirmed());
  });

  it("needs no token where all of them have a place, nor where nobody matches", async () => {
    stuck(3);
    expect(await create(registry, { rule: ruleOf({ stateMapping: MAPPED }) })).toMatchObject({
      ok: true,
    });
    shards.classes[0] = [surveyed("reminded", { pending: 5, diverged: 5 })];
    expect(await create(registry)).toMatchObject({ ok: true });
  });

  it("takes no token that is mistyped, forged, or of another tenant", async () => {
    stuck(3);
    const { confirmToken } = await preview();
    const other = await twoVersions();
    const foreign = bodyOf(await other.registry.preview({ ...proposal, replay: 0 })).confirmToken;
    const parts = confirmToken.split("_");
    const forged = [...parts.slice(0, 2), "999", ...parts.slice(3)].join("_");
    const end = confirmToken.endsWith("0") ? "1" : "0";
    for (const token of ["", "x", foreign, forged, `${confirmToken.slice(0, -1)}${end}`]) {
      expect(await create(registry, { confirmToken: token })).toMatchObject(
        unconfirmed("token_invalid"),
      );
    }
    expect(await epoch()).toBe(0);
  });

  it("takes no token of another body", async () => {
    stuck(3);
    const { confirmToken } = await preview();
    for (const over of [
      { contextMapping: { a: 1 } },
      { historyPath: ["SUBMIT_INFO"] },
      { onUnmappable: "strand" as const },
      { percent: 50 },
    ]) {
      const reply = await create(registry, { confirmToken, rule: ruleOf(over) });
      expect(reply, JSON.stringify(over)).toMatchObject(unconfirmed("token_of_another_body"));
    }
    const deployed = { parentId: "v1", rule: ruleOf(), confirmToken };
    expect(await deploy(registry, "v3", loan2("loan"), deployed)).toMatchObject(
      unconfirmed("token_of_another_body"),
    );
    const deployment = {
      id: "v3",
      definition: loan2("loan"),
      parentId: "v1",
      rule: ruleOf(),
      replay: 0,
    };
    const token = bodyOf(await registry.preview(deployment)).confirmToken;
    const changed = { ...loan2("loan"), context: { n: 1 } };
    const more = { parentId: "v1", rule: ruleOf(), confirmToken: token };
    expect(await deploy(registry, "v3", changed, more)).toMatchObject(
      unconfirmed("token_of_another_body"),
    );
    expect(await deploy(registry, "v4", loan2("loan"), more)).toMatchObject(
      unconfirmed("token_of_another_body"),
    );
    expect(await deploy(registry, "v3", loan2("loan"), more)).toMatchObject({
      ok: true,
      status: 201,
    });
  });

  it("takes a token for ten minutes", async () => {
    stuck(3);
    const { confirmToken } = await preview();
    vi.setSystemTime(START + LIMITS.confirmTokenMs);
    expect(await create(registry, { confirmToken })).toMatchObject(unconfirmed("token_expired"));
    vi.setSystemTime(START + LIMITS.confirmTokenMs - 1);
    expect(await create(registry, { confirmToken })).toMatchObject({ ok: true });
  });

  it("takes a token once, and forgets used ones when they have expired", async () => {
    stuck(3);
    const { confirmToken } = await preview();
    const first = bodyOf(await create(registry, { confirmToken }));
    const ended = { id: first.id, change: "retire", key: null, lease: 1 } as const;
    await registry.changeRule(ended);
    expect(await create(registry, { confirmToken })).toMatchObject(unconfirmed("token_used"));
    const used = () =>
      runInDurableObject(
        registryObject(tenant),
        (_, { storage }) => storage.sql.exec("SELECT * FROM used_tokens").toArray().length,
      );
    expect(await used()).toBe(1);
    vi.setSystemTime(START + LIMITS.confirmTokenMs + 1);
    const later = await preview();
    await create(registry, { confirmToken: later.confirmToken });
    expect(await used()).toBe(1);
  });

  it("takes a token of a plan that got a little worse, and none of one that got much worse", async () => {
    for (const [before, now, passes] of [
      [3, 13, true],
      [3, 14, false],
      [200, 220, true],
      [200, 221, false],
      [200, 1, true],
    ] as const) {
      stuck(before);
      const rule = ruleOf({ contextMapping: { case: fresh("case") } });
      const { confirmToken } = await preview({ rule });
      stuck(now);
      const reply = await create(registry, { rule, confirmToken });
      const expected = passes ? { ok: true } : unconfirmed("counts_worse");
      expect(reply, `${before} → ${now}`).toMatchObject(expected);
      if (reply.ok) continue;
      const { plan } = reply.failure.extra as { plan: { confirmToken: string; match: number } };
      expect(plan.match).toBe(now);
      const again = await create(registry, { rule, confirmToken: plan.confirmToken });
      expect(again).toMatchObject({ ok: true });
    }
  });

  it("is there already for who repeats a deploy whose answer got lost", async () => {
    stuck(3);
    const deployment = {
      id: "v3",
      definition: loan2("loan"),
      parentId: "v1",
      rule: ruleOf(),
      replay: 0,
    };
    const { confirmToken } = bodyOf(await registry.preview(deployment));
    const more = { parentId: "v1", rule: ruleOf(), confirmToken };
    expect(await deploy(registry, "v3", loan2("loan"), more)).toMatchObject({
      ok: true,
      status: 201,
    });
    expect(await deploy(registry, "v3", loan2("loan"), more)).toMatchObject({
      ok: true,
      status: 200,
    });
  });

  it("is made by one of two who confirm it at once", async () => {
    stuck(3);
    const { confirmToken } = await preview();
    const replies = await Promise.all([
      create(registry, { confirmToken }),
      create(registry, { confirmToken }),
    ]);
    expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await epoch()).toBe(1);
  });
});
