import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { given } from "../../src/base/refused.ts";
import type { RegistryRpc, RuleChange } from "../../src/registry/rpc.ts";
import { Db } from "../../src/storage/db.ts";
import { insertRule } from "../../src/storage/registry-rules.ts";
import { fresh } from "../support/api.ts";
import { bodyOf, registryObject } from "../support/registry.ts";
import {
  LEASE,
  SweepCalls,
  create,
  created,
  deploy,
  loan,
  ruleOf,
  twoVersions,
} from "../support/rules.ts";
import { untilTrue } from "../support/until.ts";

const START = Date.parse("2091-01-01T00:00:00.000Z");

let tenant: string;
let registry: RegistryRpc;
let sweeps: SweepCalls;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  sweeps = new SweepCalls();
  ({ tenant, registry } = await twoVersions());
});
afterEach(() => {
  sweeps.restore();
  vi.useRealTimers();
});

const epoch = async () => given(await registry.rules()).epoch;
const rules = async () => given(await registry.rules()).rules;
const change = (id: string, what: RuleChange, key: string | null = null) =>
  registry.changeRule({
    id,
    change: what,
    key: key === null ? null : { key, request: key },
    lease: LEASE,
  });
const refusal = (code: string, more: object = {}) => ({
  ok: false,
  failure: expect.objectContaining({ code, ...more }),
});
const invalid = (...errors: [pointer: string, code: string][]) =>
  refusal("migration_invalid", {
    errors: errors.map(([pointer, code]) => expect.objectContaining({ pointer, code })),
  });

describe("a rule of its own", () => {
  it("is made, with all that it says and since when it is in force", async () => {
    const rule = ruleOf({
      stateMapping: { reminded: "docs" },
      contextMapping: { a: 1 },
      percent: 25.5,
    });
    const reply = await create(registry, { rule });
    expect(reply).toMatchObject({ ok: true, status: 201 });
    const body = bodyOf(reply);
    const at = (ms: number) => new Date(START + ms).toISOString();
    expect(body).toEqual({
      id: expect.stringMatching(/^r_[0-9a-f]{16}$/),
      from: "v1",
      to: "v2",
      ...rule,
      state: "sweeping",
      deployedAt: at(0),
      inForceAt: at(LEASE),
      replaces: null,
      replacedBy: null,
      warnings: [],
      nearMisses: 0,
    });
    const { warnings: _, nearMisses: _near, ...view } = body;
    const query = {
      ruleId: body.id,
      from: "v1",
      historyPath: rule.historyPath,
      match: "prefix",
      since: "birth",
      percent: 25.5,
    };
    const alphabet = expect.arrayContaining(["SUBMIT_INFO", "CHECK", "@timer:docs:3600000"]);
    expect(bodyOf(await registry.getRule({ id: body.id, lease: LEASE }))).toEqual({
      ...view,
      query: { ...query, alphabet },
    });
    const page = bodyOf(await registry.listRules({ limit: 10, cursor: null, lease: LEASE }));
    expect(page.items).toEqual([view]);
    const { hash } = bodyOf(await registry.getDefinition("v2"));
    const stored = {
      ...rule,
      id: body.id,
      from: "v1",
      to: "v2",
      toHash: hash,
      position: 1,
      state: "active",
      inForceAt: START + LEASE,
      ramp: [{ epoch: 1, percent: 25.5, inForceAt: START + LEASE }],
    };
    expect(await registry.rules()).toEqual({ epoch: 1, rules: [stored] });
    expect(await registry.rulesFrom(["v1", "v1", "v2", "v9"])).toEqual([stored]);
    expect(await registry.rule(body.id)).toEqual({
      rule: stored,
      query: { ...query, alphabet },
      epoch: 1,
    });
    expect(await registry.rule("r_none")).toBeNull();
  });

  it("is made once per key", async () => {
    const command = { key: fresh("key"), request: "r" };
    const first = bodyOf(await create(registry, command));
    const again = await create(registry, command);
    expect(again).toMatchObject({ ok: true, status: 201, replayed: true });
    expect(bodyOf(again)).toEqual(first);
    expect(await epoch()).toBe(1);
    expect(await create(registry, { ...command, request: "other" })).toMatchObject(
      refusal("idempotency_key_reused"),
    );
    const key = { key: fresh("key"), request: "r" };
    const rule = ruleOf({ historyPath: ["SUBMIT_INFO"] });
    const both = await Promise.all([
      create(registry, { ...key, rule }),
      create(registry, { ...key, rule }),
    ]);
    expect(bodyOf(both[0]).id).toBe(bodyOf(both[1]).id);
    expect(await epoch()).toBe(2);
  });

  it("is not made of ends that are not there, or retired", async () => {
    expect(await create(registry, { from: "v0" })).toMatchObject(refusal("definition_not_found"));
    expect(await create(registry, { to: "v9" })).toMatchObject(refusal("definition_not_found"));
    await deploy(registry, "v3", loan("loan"));
    await registry.retireDefinition("v3");
    expect(await create(registry, { to: "v3" })).toMatchObject(refusal("definition_not_found"));
    expect(await epoch()).toBe(0);
  });

  it("leads within a family, and to a younger version", async () => {
    await deploy(registry, "other", loan("credit"));
    expect(await create(registry, { to: "other" })).toMatchObject(refusal("family_mismatch"));
    expect(await create(registry, { from: "v2", to: "v1" })).toEqual(
      invalid(["/to", "not_younger"]),
    );
    expect(await create(registry, { to: "v1" })).toEqual(invalid(["/to", "not_younger"]));
  });

  it("is looked at as a whole: path, mappings and ends", async () => {
    const rule = ruleOf({
      historyPath: ["xstate.init", "!A"],
      stateMapping: { nowhere: "docs", reminded: "nowhere" },
      contextMapping: { a: { "@expr": "1 +" } },
    });
    expect(await create(registry, { from: "v2", to: "v1", rule })).toEqual(
      invalid(
        ["/to", "not_younger"],
        ["/historyPath/0", "reserved_event_type"],
        ["/historyPath/1", "misplaced_exclusion"],
        ["/stateMapping/nowhere", "unknown_state"],
        ["/stateMapping/reminded", "unknown_state"],
        ["/stateMapping/reminded", "unknown_target"],
        ["/contextMapping/a/@expr", "invalid_expression"],
      ),
    );
    expect(await epoch()).toBe(0);
  });

  it("warns of names that no version has, and of states without a place", async () => {
    const rule = ruleOf({ historyPath: ["SUBMIT_INFO", "PAY_FEES"] });
    expect(bodyOf(await create(registry, { rule })).warnings).toEqual([
      {
        pointer: "/historyPath/1",
        code: "unknown_step",
        message: expect.stringContaining("Did you mean 'PAY_FEE'?"),
      },
      {
        pointer: "/stateMapping",
        code: "unmapped_state",
        message: expect.stringContaining("'reminded'"),
      },
    ]);
  });

  it("is there once, whatever its share, until it is retired", async () => {
    const id = await created(registry);
    const again = { rule: ruleOf({ percent: 5 }) };
    expect(await create(registry, again)).toMatchObject(
      refusal("rule_exists", { extra: { ruleId: id } }),
    );
    expect(await create(registry, { rule: ruleOf({ since: "entry" }) })).toMatchObject({
      ok: true,
    });
    await change(id, "pause");
    expect(await create(registry, again)).toMatchObject(refusal("rule_exists"));
    await change(id, "retire");
    expect(await create(registry, again)).toMatchObject({ ok: true });
  });

  it("takes the place of another in one epoch", async () => {
    const id = await created(registry);
    const reply = bodyOf(
      await create(registry, {
        rule: ruleOf({ stateMapping: { reminded: "docs" } }),
        replaces: id,
      }),
    );
    expect(reply.replaces).toBe(id);
    expect(bodyOf(await registry.getRule({ id, lease: LEASE }))).toMatchObject({
      state: "retired",
      replacedBy: reply.id,
    });
    expect(await epoch()).toBe(2);
    expect((await rules()).map((rule) => rule.id)).toEqual([reply.id]);
    expect((await registry.rule(id)) as object).toMatchObject({
      epoch: 2,
      rule: { state: "retired", ramp: [] },
    });
    await untilTrue(() =>
      [id, reply.id].every((one) => sweeps.told.some(({ ruleId }) => ruleId === one)),
    );
  });

  it("takes the place of one that is there, not retired, and from the same definition", async () => {
    expect(await create(registry, { replaces: "r_0" })).toMatchObject(refusal("rule_not_found"));
    const id = await created(registry);
    await deploy(registry, "v3", loan("loan"));
    expect(await create(registry, { from: "v2", to: "v3", replaces: id })).toEqual(
      invalid(["/replaces", "other_from"]),
    );
    await change(id, "retire");
    expect(await create(registry, { replaces: id })).toMatchObject(refusal("rule_retired"));
  });

  it("has a place as long as there are not too many", async () => {
    const most = LIMITS.rulesPerDefinition;
    const add = (count: number, from: number, state: "paused" | "retired") =>
      runInDurableObject(registryObject(tenant), (_, storage) => {
        const db = new Db(storage.storage);
        for (let index = from; index < from + count; index += 1) {
          const body = JSON.stringify(ruleOf({ historyPath: [`N${index}`] }));
          const dates = { deployed_at: 0, in_force_at: 0, epoch: 1 };
          insertRule(db, {
            id: `r_${index}`,
            from_id: "v1",
            to_id: "v2",
            to_hash: "",
            deploys: 0,
            body,
            state,
            percent: 1,
            ramp: "[]",
            replaces: null,
            ...dates,
          });
        }
      });
    await add(most - 1, 0, "paused");
    const id = await created(registry);
    const other = { rule: ruleOf({ historyPath: ["SUBMIT_INFO"] }) };
    expect(await create(registry, other)).toMatchObject(
      refusal("limit_exceeded", { extra: { limit: "rulesPerDefinition", most } }),
    );
    expect(await create(registry, { ...other, replaces: id })).toMatchObject({ ok: true });
    await change("r_0", "retire");
    expect(await create(registry, other)).toMatchObject(refusal("rule_exists"));
    await add(LIMITS.rulesEver - most - 2, most, "retired");
    const third = { rule: ruleOf({ historyPath: ["PAY_FEE"] }) };
    expect(await create(registry, third)).toMatchObject({ ok: true });
    await change("r_1", "retire");
    const fourth = { rule: ruleOf({ historyPath: ["WAIVE_FEE"] }) };
    expect(await create(registry, fourth)).toMatchObject(
      refusal("limit_exceeded", { extra: { limit: "rulesEver", most: LIMITS.rulesEver } }),
    );
  });

  it("has a place as long as all of them together are not too long", async () => {
    // A row has at most 2 MB, so several of them are filled up.
    const fill = (last: number) =>
      runInDurableObject(registryObject(tenant), (_, { storage }) => {
        const pad = "json_set(body, '$.pad', '')";
        storage.sql.exec(`UPDATE rules SET body = ${pad}`);
        storage.sql.exec(
          "UPDATE rules SET body = json_set(body, '$.pad', ?) WHERE position < 4",
          "x".repeat(1_000_000),
        );
        const [row] = storage.sql.exec<{ n: number }>("SELECT SUM(LENGTH(body)) AS n FROM rules");
        storage.sql.exec(
          "UPDATE rules SET body = json_set(body, '$.pad', ?) WHERE position = 4",
          "x".repeat(last - Number(row?.n)),
        );
      });
    for (const name of ["SUBMIT_INFO", "PAY_FEE", "WAIVE_FEE", "UPLOAD"]) {
      await created(registry, { rule: ruleOf({ historyPath: [name] }) });
    }
    const rule = ruleOf({ historyPath: ["APPROVE"] });
    const rest = LIMITS.rulesChars - JSON.stringify(rule).length;
    await fill(rest + 1);
    expect(await create(registry, { rule })).toMatchObject(
      refusal("limit_exceeded", { extra: { limit: "rulesChars", most: LIMITS.rulesChars } }),
    );
    await fill(rest);
    expect(await create(registry, { rule })).toMatchObject({ ok: true });
  });

  it("is of its tenant alone", async () => {
    const id = await created(registry);
    const other = (await twoVersions()).registry;
    expect(await other.rules()).toEqual({ epoch: 0, rules: [] });
    expect(await other.rulesFrom(["v1"])).toEqual([]);
    expect(await other.rule(id)).toBeNull();
    expect(await other.getRule({ id, lease: LEASE })).toMatchObject(refusal("rule_not_found"));
    expect(await create(other, { replaces: id })).toMatchObject(refusal("rule_not_found"));
    const reply = await other.changeRule({ id, change: "pause", key: null, lease: LEASE });
    expect(reply).toMatchObject(refusal("rule_not_found"));
    await created(other);
    expect(await epoch()).toBe(1);
    await untilTrue(() => sweeps.told.length === 2);
    for (const { name, tenant: whose, ruleId } of sweeps.told)
      expect(name).toBe(`${whose}/${ruleId}`);
  });
});

describe("a change of a rule", () => {
  it("makes an epoch, and one that changes nothing makes none", async () => {
    const id = await created(registry);
    const steps: [RuleChange, number, object][] = [
      ["resume", 1, { state: "sweeping" }],
      [{ percent: 100 }, 1, { percent: 100 }],
      ["pause", 2, { state: "paused" }],
      ["pause", 2, { state: "paused" }],
      [{ percent: 10 }, 3, { percent: 10, state: "paused" }],
      ["resume", 4, { percent: 10, state: "sweeping" }],
      [{ percent: 20 }, 5, { percent: 20 }],
      ["retry", 5, { state: "sweeping" }],
      ["retire", 6, { state: "retired" }],
      ["retire", 6, { state: "retired" }],
    ];
    for (const [index, [what, expected, view]] of steps.entries()) {
      vi.setSystemTime(START + index * 10_000);
      const before = await epoch();
      const reply = await change(id, what);
      expect(reply, JSON.stringify(what)).toMatchObject({ ok: true, status: 200 });
      expect(bodyOf(reply), JSON.stringify(what)).toMatchObject(view);
      expect(await epoch()).toBe(expected);
      const inForceAt = Date.parse(bodyOf(reply).inForceAt);
      if (expected > before) expect(inForceAt).toBe(START + index * 10_000 + LEASE);
    }
    for (const what of ["pause", "resume", "retry", { percent: 1 }] as const) {
      expect(await change(id, what)).toMatchObject(refusal("rule_retired"));
    }
    expect(await change("r_0", "pause")).toMatchObject(refusal("rule_not_found"));
    expect(await rules()).toEqual([]);
    expect(await registry.rulesFrom(["v1"])).toMatchObject([{ id, state: "retired", ramp: [] }]);
  });

  it("keeps since when each share has been taken", async () => {
    const id = await created(registry, { rule: ruleOf({ percent: 10 }) });
    const ramp = async () => (await rules())[0]?.ramp.map((step) => [step.epoch, step.percent]);
    await change(id, { percent: 30 });
    await change(id, { percent: 60 });
    expect(await ramp()).toEqual([
      [1, 10],
      [2, 30],
      [3, 60],
    ]);
    await change(id, { percent: 20 });
    expect(await ramp()).toEqual([
      [1, 10],
      [2, 20],
    ]);
    await change(id, "pause");
    expect(await ramp()).toEqual([]);
    await change(id, { percent: 50 });
    expect(await ramp()).toEqual([]);
    await change(id, "resume");
    expect(await ramp()).toEqual([[7, 50]]);
  });

  it("lets a share grow so many times and no more", async () => {
    const id = await created(registry, { rule: ruleOf({ percent: 0 }) });
    for (let step = 1; step < LIMITS.rampSteps; step += 1) {
      await change(id, { percent: step / 10 });
    }
    expect((await rules())[0]?.ramp).toHaveLength(LIMITS.rampSteps);
    expect(await change(id, { percent: 50 })).toMatchObject(
      refusal("limit_exceeded", { extra: { limit: "rampSteps", most: LIMITS.rampSteps } }),
    );
    expect(await change(id, { percent: 5 })).toMatchObject({ ok: true });
  });

  it("is made once per key", async () => {
    const id = await created(registry);
    const first = bodyOf(await change(id, "pause", "k1"));
    await change(id, "resume");
    const again = await change(id, "pause", "k1");
    expect(again).toMatchObject({ ok: true, replayed: true });
    expect(bodyOf(again)).toEqual(first);
    expect((await rules())[0]?.state).toBe("active");
  });

  it("is swept when its sweep says so, as of the same epoch", async () => {
    const id = await created(registry);
    const state = async () => bodyOf(await registry.getRule({ id, lease: LEASE })).state;
    await registry.swept({ ruleId: id, epoch: 0 });
    await registry.swept({ ruleId: "r_0", epoch: 1 });
    expect(await state()).toBe("sweeping");
    await registry.swept({ ruleId: id, epoch: 1 });
    expect(await state()).toBe("active");
    await change(id, "retry");
    expect(await state()).toBe("sweeping");
    await registry.swept({ ruleId: id, epoch: 1 });
    await change(id, { percent: 50 });
    expect(await state()).toBe("sweeping");
    await registry.swept({ ruleId: id, epoch: 1 });
    expect(await state()).toBe("sweeping");
    await registry.swept({ ruleId: id, epoch: 2 });
    expect(await state()).toBe("active");
  });
});

describe("a list of rules", () => {
  it("goes newest first, page by page", async () => {
    const paths = [["SUBMIT_INFO"], ["PAY_FEE"], ["WAIVE_FEE"]];
    const ids: string[] = [];
    for (const historyPath of paths)
      ids.unshift(await created(registry, { rule: ruleOf({ historyPath }) }));
    const first = bodyOf(await registry.listRules({ limit: 2, cursor: null, lease: LEASE }));
    const second = bodyOf(
      await registry.listRules({ limit: 2, cursor: first.nextCursor, lease: LEASE }),
    );
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
    expect((await rules()).map(({ id }) => id)).toEqual(ids.toReversed());
  });
});
