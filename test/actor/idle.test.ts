import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { refShard, shardCount } from "../../src/directory/shards.ts";
import { alarmOf, evict, meterOf, ringAlarm, sent, spawned } from "../support/actors.ts";
import { call } from "../support/api.ts";
import { alarmOfShard, evictShard, refsObject, ringShard } from "../support/directory.ts";
import { entryOf, indexedIn, shardNameOf, standingOf, watchDirectory } from "../support/reports.ts";
import { runInDurableObject } from "cloudflare:test";

const HOUR = 3_600_000;
const START = Date.UTC(2095, 0, 1);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const machine = {
  initial: "a",
  states: {
    a: { on: { GO: "b", END: "end" }, after: { [400 * HOUR]: "b" } },
    b: { on: { GO: "a" } },
    end: { type: "final" },
  },
};

/** Lets all alarms go off that are due within some hours, each time in an object that has slept; how many did. */
async function alarmsWithin(
  hours: number,
  alarm: () => Promise<number | null>,
  ring: () => Promise<unknown>,
): Promise<number> {
  const end = Date.now() + hours * HOUR;
  for (let rung = 0; ; rung += 1) {
    const at = await alarm();
    if (at === null || at > end || rung === 50) return rung;
    vi.setSystemTime(Math.max(at, Date.now()));
    await ring();
  }
}

test.each([
  ["that waits for an event", ["GO"], null],
  ["that waits for a timer", [], null],
  ["that has ended", ["END"], null],
  ["that is paused", ["GO"], "pause"],
] as const)(
  "in ten days of nothing, an actor %s costs an alarm and a put that writes nothing",
  async (_, events, action) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(START);
    const { putsOf } = watchDirectory();
    const id = await spawned(machine, { refs: { order: "o-1" } });
    for (const type of events) await sent(id, type);
    if (action) await call("POST", `/v1/actors/${id}/${action}`, { body: {} });
    await expect
      .poll(async () => indexedIn((await entryOf(id))!), { timeout: 60_000 })
      .toEqual(await standingOf(id));
    const before = putsOf(id).length;
    const name = await shardNameOf(id);
    let rows = 0;
    const ring = async () => {
      await evict(id);
      await ringAlarm(id);
      rows += (await meterOf(id)).rowsWritten;
    };
    expect(await alarmsWithin(240, () => alarmOf(id), ring)).toBe(1);
    expect(putsOf(id).length - before).toBe(1);
    expect(rows).toBe(0);

    const ringOfShard = async () => {
      await evictShard(name);
      await ringShard(name);
    };
    // The one that sees that references were told.
    expect(await alarmsWithin(240, () => alarmOfShard(name), ringOfShard)).toBeLessThanOrEqual(1);
    const count = (await shardCount(env, DEFAULT_TENANT, false)) as number;
    const refs = refsObject(refShard(DEFAULT_TENANT, count, "order", "o-1"));
    expect(await runInDurableObject(refs, (_object, state) => state.storage.getAlarm())).toBeNull();
  },
);
