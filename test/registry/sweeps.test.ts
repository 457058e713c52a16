import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { registryObject } from "../support/registry.ts";
import { LEASE, SweepCalls, created, ruleOf, twoVersions } from "../support/rules.ts";
import { silence } from "../support/silence.ts";

const START = Date.parse("2091-01-01T00:00:00.000Z");

let tenant: string;
let registry: RegistryRpc;
let sweeps: SweepCalls;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  silence();
  sweeps = new SweepCalls();
  ({ tenant, registry } = await twoVersions());
});
afterEach(() => {
  sweeps.restore();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const alarm = () =>
  runInDurableObject(registryObject(tenant), (_, { storage }) => storage.getAlarm());
const ring = () => runDurableObjectAlarm(registryObject(tenant));
const owed = () =>
  runInDurableObject(registryObject(tenant), (_, { storage }) =>
    storage.sql.exec("SELECT rule_id, again FROM sweeps_owed ORDER BY rule_id").toArray(),
  );
const settled = () => vi.waitFor(async () => expect(await owed()).toEqual([]), 10_000);

describe("a sweep", () => {
  it("is told of every change of its rule at once", async () => {
    const id = await created(registry);
    await settled();
    const told = (again: boolean) => ({ name: `${tenant}/${id}`, tenant, ruleId: id, again });
    expect(sweeps.told).toEqual([told(false)]);
    for (const change of ["pause", "resume", "retry", { percent: 5 }, "retire"] as const) {
      await registry.changeRule({ id, change, key: null, lease: LEASE });
      await settled();
      expect(sweeps.told.at(-1)).toEqual(told(change === "retry"));
    }
    expect(sweeps.told).toHaveLength(6);
    await registry.changeRule({ id, change: "retire", key: null, lease: LEASE });
    await settled();
    expect(sweeps.told).toHaveLength(6);
  });

  it("is told by an alarm where the registry died between commit and call", async () => {
    sweeps.lost = true;
    const id = await created(registry);
    expect(await owed()).toEqual([{ rule_id: id, again: 0 }]);
    expect(await alarm()).toBeLessThanOrEqual(START + LIMITS.alarmRetryMostMs);
    await evictDurableObject(registryObject(tenant));
    expect(sweeps.told).toEqual([]);
    sweeps.lost = false;
    expect(await ring()).toBe(true);
    await settled();
    expect(sweeps.told[0]).toMatchObject({ ruleId: id, again: false });
  });

  it("is told by a call before the alarm that goes off meanwhile ends, which nothing would come after", async () => {
    const id = await created(registry);
    await settled();
    // It has been looked at for this hour.
    await ring();
    const gate = Promise.withResolvers<void>();
    sweeps.held = gate.promise;
    await registry.changeRule({ id, change: "retry", key: null, lease: LEASE });
    let rung = false;
    const ringing = ring().then(() => (rung = true));
    // The registry answers meanwhile, and the alarm is at work as long as the sweep has not heard of it.
    for (let asked = 0; asked < 20; asked += 1) await owed();
    expect(rung).toBe(false);
    gate.resolve();
    await ringing;
    expect(await owed()).toEqual([]);
  });

  it("that cannot be told waits for an alarm, and a retry is not forgotten", async () => {
    const id = await created(registry);
    await settled();
    sweeps.lost = true;
    await registry.changeRule({ id, change: "retry", key: null, lease: LEASE });
    await registry.changeRule({ id, change: { percent: 3 }, key: null, lease: LEASE });
    for (let round = 0; round < 3; round += 1) {
      await ring();
      expect(await owed()).toEqual([{ rule_id: id, again: 1 }]);
      expect(await alarm()).not.toBeNull();
    }
    sweeps.told = [];
    sweeps.lost = false;
    await ring();
    await settled();
    expect(sweeps.told[0]).toMatchObject({ ruleId: id, again: true });
  });

  it("that is under way is looked at every hour, until it has finished", async () => {
    const id = await created(registry);
    await settled();
    await ring();
    const next = await alarm();
    // Waiting for something moves the clock a little.
    expect(next).toBeGreaterThanOrEqual(START + LIMITS.watchMs);
    expect(next).toBeLessThan(START + LIMITS.watchMs + 30_000);
    sweeps.told = [];
    vi.setSystemTime(next ?? 0);
    await ring();
    expect(sweeps.told).toEqual([{ name: `${tenant}/${id}`, tenant, ruleId: id, again: false }]);
    await registry.swept({ ruleId: id, epoch: 1 });
    vi.setSystemTime(START + 3 * LIMITS.watchMs);
    await ring();
    expect(sweeps.told).toHaveLength(1);
    expect(await alarm()).toBeNull();
  });

  it("of many rules is told for each of them", async () => {
    sweeps.lost = true;
    const ids: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      ids.push(
        await created(registry, { rule: ruleOf({ percent: 1, contextMapping: { index } }) }),
      );
    }
    sweeps.lost = false;
    await ring();
    await settled();
    expect(new Set(sweeps.told.map(({ ruleId }) => ruleId))).toEqual(new Set(ids));
  });
});
