import { beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { silence } from "../support/silence.ts";

/** What the platform was told, in order. */
let set: number[];
let clock: AlarmClock;

/** A database of which only that is looked at. */
function counters() {
  return { meter: { rowsRead: 0, rowsWritten: 0, alarmsSet: 0 }, remember: () => {} };
}

beforeEach(() => {
  set = [];
  const storage = {
    getAlarm: async () => null,
    async setAlarm(at: number) {
      set.push(at);
    },
  };
  clock = new AlarmClock(storage, counters());
});

describe("an alarm for one thing of several", () => {
  test("is set at once while none is at work, and moves only to earlier times", () => {
    clock.remind(500);
    clock.remind(900);
    clock.remind(200);
    expect(set).toEqual([500, 200]);
  });

  test("waits for the one that is at work, which it would replace", async () => {
    await clock.atWork(async () => {
      clock.remind(900);
      clock.remind(500);
      expect(set).toEqual([]);
      expect(clock.at).toBe(500);
      return 700;
    });
    expect(set).toEqual([500]);
  });

  test("is not wanted where one for everything has been set meanwhile, which comes before", async () => {
    await clock.atWork(async () => {
      clock.remind(900);
      clock.ensure(300);
      expect(set).toEqual([300]);
      return null;
    });
    expect(set).toEqual([300]);
  });

  test("is set also when the work fails", async () => {
    const failing = clock.atWork(async () => {
      clock.remind(900);
      throw new Error("injected");
    });
    await expect(failing).rejects.toThrow("injected");
    expect(set).toEqual([900]);
    clock.remind(100);
    expect(set).toEqual([900, 100]);
  });
});

describe("work that is tried again", () => {
  const failing = () => clock.retrying("a test", () => Promise.reject(new Error("injected")));
  /** The pauses after failures in a row, each in an alarm of its own. */
  async function pausesOf(failures: number): Promise<number[]> {
    const begun = set.length;
    for (let n = 0; n < failures; n += 1) {
      clock.wentOff();
      await failing();
    }
    return set.slice(begun).map((at) => at - Date.now());
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    silence();
    return () => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    };
  });

  test("has pauses that grow up to the longest, and begin anew when it has been done", async () => {
    const longest = LIMITS.alarmRetryMostMs;
    expect(await pausesOf(8)).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      32_000,
      longest,
      longest,
    ]);
    await clock.retrying("a test", async () => {});
    expect(await pausesOf(2)).toEqual([1_000, 2_000]);
  });

  test("leaves an earlier alarm where it is, and sets none where it is done", async () => {
    clock.ensure(Date.now() + 10);
    await failing();
    await clock.retrying("a test", async () => {});
    expect(set).toEqual([Date.now() + 10]);
  });
});

/** A platform that answers when it is told to. */
function slowPlatform() {
  const asked: PromiseWithResolvers<number | null>[] = [];
  const set: number[] = [];
  const storage = {
    getAlarm: () => {
      const answer = Promise.withResolvers<number | null>();
      asked.push(answer);
      return answer.promise;
    },
    setAlarm: async (at: number) => {
      set.push(at);
    },
  };
  const clock = new AlarmClock(storage, counters());
  return { clock, asked, set };
}

describe("what the platform holds", () => {
  test("is asked for once, for all who come meanwhile", async () => {
    const { clock, asked } = slowPlatform();
    const both = Promise.all([clock.known(), clock.known()]);
    asked[0]?.resolve(500);
    await both;
    await clock.known();
    expect(asked.length).toBe(1);
    expect(clock.at).toBe(500);
  });

  test("is asked for again where that failed", async () => {
    const { clock, asked } = slowPlatform();
    const failed = clock.known();
    asked[0]?.reject(new Error("storage is away"));
    await expect(failed).rejects.toThrow("away");
    const known = clock.known();
    asked[1]?.resolve(500);
    await known;
    expect(clock.at).toBe(500);
  });

  test("is not believed when the alarm went off meanwhile", async () => {
    const { clock, asked, set } = slowPlatform();
    const known = clock.known();
    clock.wentOff();
    asked[0]?.resolve(500);
    await known;
    expect(clock.isSet).toBe(false);
    clock.ensure(800);
    expect(set).toEqual([800]);
  });

  test("is nothing once the alarm went off, without asking", async () => {
    const { clock, asked } = slowPlatform();
    clock.wentOff();
    await clock.known();
    expect(asked.length).toBe(0);
    expect(clock.isSet).toBe(false);
  });
});
