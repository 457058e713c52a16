import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { DirectoryObject } from "../../src/directory/directory-object.ts";
import type { SweepProgress } from "../../src/sweep/rpc.ts";
import { actorNow, sent } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { value } from "../support/directory.ts";
import type { RuleChange } from "../../src/registry/rpc.ts";
import { bodyOf } from "../support/registry.ts";
import { LEASE, create, loan, loan2, ruleOf } from "../support/rules.ts";
import { until } from "../support/until.ts";

/** Nothing is made up here: registry, shards, actors, alarms. */

const PATIENCE_MS = 60_000;
const registry = () => env.REGISTRY.getByName(DEFAULT_TENANT);
const sweepOf = (ruleId: string) => env.SWEEPS.getByName(`${DEFAULT_TENANT}/${ruleId}`);

async function ended(ruleId: string): Promise<SweepProgress> {
  return await until(
    async () => value(await sweepOf(ruleId).progress()),
    ({ state }) => state === "finished",
    PATIENCE_MS,
  );
}

let v1: string;
let v2: string;
const paid: string[] = [];
const waived: string[] = [];
const waiting: string[] = [];

async function made(method: string, path: string, body: object): Promise<Body> {
  const answer = await call(method, path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function actor(n: number): Promise<void> {
  const { id } = await made("POST", "/v1/actors", { definitionId: v1, id: fresh("a") });
  const list = [paid, waived, waiting][n % 3] as string[];
  await sent(id, "SUBMIT_INFO");
  if (list === paid) await sent(id, "PAY_FEE");
  if (list === waived) await sent(id, "WAIVE_FEE");
  list.push(id);
}

/** Ids of two versions of a family of its own. */
async function twoLoans(): Promise<[string, string]> {
  const family = fresh("loan");
  const [first, second] = [`${family}-v1`, `${family}-v2`];
  await made("PUT", "/v1/definitions", { id: first, definition: loan(family) });
  await made("PUT", "/v1/definitions", {
    id: second,
    definition: loan2(family),
    parentId: first,
  });
  return [first, second];
}

beforeAll(async () => {
  [v1, v2] = await twoLoans();
  await Promise.all(Array.from({ length: 60 }, (_, n) => actor(n)));
  await until(
    () => call("GET", `/v1/actors/count?definitionId=${v1}&state=docs`),
    ({ body }) => body.total === paid.length + waived.length,
    PATIENCE_MS,
  );
}, PATIENCE_MS);

async function definitionsOf(ids: string[]): Promise<string[]> {
  const now = await Promise.all(ids.map((id) => actorNow(id)));
  return [...new Set(now.map(({ definitionId }) => definitionId as string))];
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a sweep over a fleet", () => {
  let ruleId: string;
  const change = async (what: RuleChange) =>
    bodyOf(await registry().changeRule({ id: ruleId, change: what, key: null, lease: LEASE }));

  it("moves who matches, leaves the others alone, and says so to registry and directory", async () => {
    const input = ruleOf({ stateMapping: { reminded: "docs" } });
    const rule = bodyOf(await create(registry(), { from: v1, to: v2, rule: input }));
    ruleId = rule.id;
    const progress = await ended(ruleId);
    expect(progress).toMatchObject({ state: "finished", failed: 0 });
    expect(progress.woken).toBeGreaterThanOrEqual(20);
    expect(progress.woken).toBeLessThanOrEqual(40);
    expect(progress.startedAt).toBeLessThanOrEqual(progress.finishedAt as number);
    expect(progress.finishedAt).toBeGreaterThanOrEqual(Date.parse(rule.inForceAt));
    expect(await definitionsOf(paid)).toEqual([v2]);
    expect(await definitionsOf([...waived, ...waiting])).toEqual([v1]);
    // Each told the directory before it answered.
    const { body } = await call("GET", `/v1/actors?definitionId=${v2}&limit=200`);
    expect(body.items.map(({ id }: { id: string }) => id).toSorted()).toEqual(paid.toSorted());
    const state = await until(
      async () => bodyOf(await registry().getRule({ id: ruleId, lease: LEASE })).state,
      (shown) => shown === "active",
      PATIENCE_MS,
    );
    expect(state).toBe("active");
  });

  it("is done again by a retry, and asks nobody in vain who has moved", async () => {
    const before = value(await sweepOf(ruleId).progress());
    await change("retry");
    const again = await until(
      async () => value(await sweepOf(ruleId).progress()),
      ({ state, startedAt }) => state === "finished" && startedAt !== before.startedAt,
      PATIENCE_MS,
    );
    expect(again).toMatchObject({ state: "finished", failed: 0 });
    expect(again.woken).toBeLessThanOrEqual(20);
  });

  it("pauses and retires with its rule", async () => {
    await change("pause");
    await change("retire");
    expect((await ended(ruleId)).state).toBe("finished");
  });

  it("asks whom the directory hears of between its stages", async () => {
    const [from, to] = await twoLoans();
    const { id } = await made("POST", "/v1/actors", { definitionId: from, id: fresh("late") });
    const { put, candidates } = DirectoryObject.prototype;
    const matchesAreThrough = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    vi.spyOn(DirectoryObject.prototype, "put").mockImplementation(async function (
      this: DirectoryObject,
      entry,
    ) {
      if (entry.id === id) await matchesAreThrough.promise;
      const answer = await put.call(this, entry);
      if (entry.id === id) heard.resolve();
      return answer;
    });
    vi.spyOn(DirectoryObject.prototype, "candidates").mockImplementation(async function (
      this: DirectoryObject,
      query,
    ) {
      if (query.from === from && query.stage === "pending") {
        matchesAreThrough.resolve();
        await heard.promise;
      }
      return await candidates.call(this, query);
    });
    await sent(id, "SUBMIT_INFO");
    await sent(id, "PAY_FEE");
    const rule = bodyOf(await create(registry(), { from, to, rule: ruleOf() }));
    expect(await ended(rule.id)).toMatchObject({ state: "finished", woken: 1, failed: 0 });
    expect(await definitionsOf([id])).toEqual([to]);
  });

  it("of a rule that there is not begins nothing", async () => {
    const query = { tenant: DEFAULT_TENANT, ruleId: "r_00000000000000ff", again: false };
    const sweep = sweepOf(query.ruleId);
    expect(await sweep.poke(query)).toMatchObject({
      ok: false,
      failure: { code: "rule_not_found" },
    });
    expect(value(await sweep.progress())).toMatchObject({ state: "none" });
    expect(value(await sweep.failures({ after: null, limit: 5 }))).toEqual({
      items: [],
      next: null,
    });
  });
});
