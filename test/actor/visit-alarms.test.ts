import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DirectoryObject } from "../../src/directory/directory-object.ts";
import { alarmOf, evict, meterOf, ringAlarm, sent, spawned } from "../support/actors.ts";
import { ruled, useRules, versions, visited } from "../support/moves.ts";
import { silence } from "../support/silence.ts";

/** An actor that a sweep moves has told the directory before it answers: no alarm is set to wake it for that. */

const DAY_MS = 86_400_000;
const timed = {
  initial: "a",
  states: { a: { on: { NEXT: "b", AGAIN: {} }, after: { [DAY_MS]: "b" } }, b: {} },
};
const untimed = { initial: "a", states: { a: { on: { NEXT: "b" } }, b: {} } };

beforeEach(() => useRules());
afterEach(() => {
  vi.restoreAllMocks();
});

/** An actor that nothing wakes but its own timers. */
async function idle(machine: object): Promise<{ id: string; v1: string; v2: string }> {
  const [v1, v2] = (await versions(machine, machine)) as [string, string];
  const id = await spawned(v1);
  await ringAlarm(id);
  await evict(id);
  return { id, v1, v2 };
}

describe("the alarm after a visit that moved an actor", () => {
  test("is that of its timers", async () => {
    const { id, v1, v2 } = await idle(timed);
    const before = await alarmOf(id);
    expect(before).toBeGreaterThan(Date.now() + DAY_MS / 2);
    const rule = await ruled(v1, v2);
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    expect(await alarmOf(id)).toBe(before);
    expect((await meterOf(id)).alarmsSet).toBe(0);
  });

  test("is none where it has no timers", async () => {
    const { id, v1, v2 } = await idle(untimed);
    expect(await alarmOf(id)).toBeNull();
    expect(await visited(id, await ruled(v1, v2))).toEqual({ outcome: "migrated" });
    expect(await alarmOf(id)).toBeNull();
  });

  test("comes soon where the directory could not be told", async () => {
    const { id, v1, v2 } = await idle(timed);
    silence();
    const put = vi.spyOn(DirectoryObject.prototype, "put").mockImplementation(async () => {
      throw new Error("down");
    });
    await visited(id, await ruled(v1, v2)).catch(() => {});
    expect(put).toHaveBeenCalled();
    expect(await alarmOf(id)).toBeLessThan(Date.now() + DAY_MS / 2);
  });

  test("comes soon where an event came meanwhile that the directory does not know yet", async () => {
    const { id, v1, v2 } = await idle(timed);
    const rule = await ruled(v1, v2);
    const { put } = DirectoryObject.prototype;
    let events = 0;
    vi.spyOn(DirectoryObject.prototype, "put").mockImplementation(async function held(
      this: DirectoryObject,
      entry,
    ) {
      const told = await put.call(this, entry);
      if (entry.id === id && events === 0) {
        events += 1;
        expect((await sent(id, "NEXT")).status).toBe(200);
      }
      return told;
    });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    expect(events).toBe(1);
    expect(await alarmOf(id)).toBeLessThan(Date.now() + DAY_MS / 2);
  });
});
