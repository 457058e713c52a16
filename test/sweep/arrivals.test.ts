import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { actorNow, crash, expectReplays, ringAlarm, sent } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import { value } from "../support/directory.ts";
import { bodyOf } from "../support/registry.ts";
import { watchDirectory } from "../support/reports.ts";
import type { Watched } from "../support/reports.ts";
import { create, loan, loan2, ruleOf } from "../support/rules.ts";
import { silence } from "../support/silence.ts";
import { until } from "../support/until.ts";

/** Who comes to a definition, and whose arrival the directory learns of only when a sweep over it has ended. */

let directory: Watched;
let ids: [string, string, string];

const registry = () => env.REGISTRY.getByName(DEFAULT_TENANT);

beforeEach(async () => {
  silence();
  directory = watchDirectory();
  const family = fresh("loan");
  ids = [`${family}-v1`, `${family}-v2`, `${family}-v3`];
  for (const [n, id] of ids.entries()) {
    const definition = n === 0 ? loan(family) : { ...loan2(family), version: `${n}` };
    const body = { id, definition, ...(n > 0 && { parentId: ids[n - 1] }) };
    expect((await call("PUT", "/v1/definitions", { body })).status).toBe(201);
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes a rule and waits until its sweep has ended; how many actors that asked. */
async function swept(rule: { from: string; to: string; rule: ReturnType<typeof ruleOf> }) {
  const { id } = bodyOf(await create(registry(), rule));
  const sweep = env.SWEEPS.getByName(`${DEFAULT_TENANT}/${id}`);
  const { woken } = await until(
    async () => value(await sweep.progress()),
    ({ state }) => state === "finished",
  );
  return woken;
}

async function untilOn(id: string, definitionId: string): Promise<void> {
  await until(
    () => actorNow(id),
    (actor) => actor.definitionId === definitionId,
  );
}

const spawnOf = (id: string, definitionId: string) =>
  call("POST", "/v1/actors", { body: { id, definitionId } });

describe("an actor that came to a definition", () => {
  it("by a rule goes on by the next, though its move was told after that one's sweep", async () => {
    const [first, second, third] = ids;
    expect(await swept({ from: first, to: second, rule: ruleOf() })).toBe(0);
    const id = fresh("late");
    await spawnOf(id, first);
    await sent(id, "SUBMIT_INFO");
    const told = Promise.withResolvers<void>();
    directory.plan.set(id, [{ held: told.promise }]);
    await sent(id, "PAY_FEE");
    expect((await actorNow(id)).definitionId).toBe(second);
    expect(await swept({ from: second, to: third, rule: ruleOf() })).toBe(0);
    told.resolve();
    await untilOn(id, third);
    await expectReplays(id);
  });

  it.each(["in the same life", "after a crash"])(
    "by its birth goes on by a rule whose sweep had ended when it was told of, %s",
    async (when) => {
      const [first, second] = ids;
      const id = fresh("late");
      const told = Promise.withResolvers<void>();
      directory.plan.set(id, [{ held: told.promise }]);
      const spawned = spawnOf(id, first).catch(() => null);
      await until(() => directory.putsOf(id).length, Boolean);
      const all = { ...ruleOf(), match: "all" as const, historyPath: [] };
      expect(await swept({ from: first, to: second, rule: all })).toBe(0);
      if (when === "after a crash") {
        await crash();
        await ringAlarm(id);
      }
      told.resolve();
      await spawned;
      await untilOn(id, second);
      await expectReplays(id);
    },
  );
});
