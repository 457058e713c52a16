import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { SettleCommand } from "../../../src/actor/rpc.ts";
import type { AttemptNote } from "../../../src/activities/types.ts";
import { DEFAULT_TENANT } from "../../../src/base/ids.ts";
import { LIMITS } from "../../../src/base/limits.ts";
import { arrived, caller, hanging, outboxOf, service } from "../../support/activities.ts";
import type { OutgoingCall } from "../../support/activities.ts";
import {
  actorNow,
  advanceClock,
  crash,
  expectReplays,
  objectOf,
  records,
  sent,
  spawned,
  sqlIn,
} from "../../support/actors.ts";
import { call } from "../../support/api.ts";
import { lowered } from "../../support/limits.ts";
import { silence } from "../../support/silence.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

/** A result from whoever works for the activity `ref`; how the actor takes it. */
async function settled(
  id: string,
  ref: string,
  output: string,
  errors: AttemptNote[] = [],
): Promise<object | undefined> {
  const command: SettleCommand = {
    tenant: DEFAULT_TENANT,
    id,
    ref,
    outcome: { output },
    attempts: 1,
    errors,
    by: "worker",
    principal: null,
  };
  const object = objectOf(id) as unknown as { settle(one: SettleCommand): Promise<object> };
  return ((await object.settle(command)) as { body?: object }).body;
}

/** An actor whose activity `2:0` waits for its result. */
async function working(input: object = {}): Promise<string> {
  service(hanging);
  const id = await spawned(caller(input));
  await sent(id, "GO");
  return id;
}

const control = (id: string, action: string) =>
  call("POST", `/v1/actors/${id}/${action}`, { body: {} });

describe("a result from outside", () => {
  test("is taken once; the same one again is known, another one is late", async () => {
    const id = await working();
    expect(await settled(id, "2:0", "a")).toMatchObject({ taken: true, same: false });
    expect(await settled(id, "2:0", "a")).toEqual({
      taken: false,
      status: "completed",
      same: true,
    });
    expect(await records(id)).toHaveLength(3);
    expect(await settled(id, "2:0", "b")).toEqual({
      taken: false,
      status: "completed",
      same: false,
    });
    const [, , done, late] = await records(id);
    expect(done).toMatchObject({ kind: "activity_done", handled: true, by: "worker" });
    expect(late).toMatchObject({ kind: "activity_done", handled: false, reason: "late" });
    expect((await actorNow(id)).context.got).toBe("a");
    await expectReplays(id);
  });

  test("of an activity that was cancelled, or never was, is late", async () => {
    const id = await working();
    await sent(id, "LEAVE");
    expect(await settled(id, "2:0", "a")).toMatchObject({ taken: false, status: "cancelled" });
    expect(await settled(id, "9:9", "a")).toMatchObject({ taken: false, status: null });
    expect((await actorNow(id)).stateValue).toBe("idle");
    await expectReplays(id);
  });

  test("waits in a paused actor, over a crash; the same one is known, another one is not taken", async () => {
    const id = await working();
    await control(id, "pause");
    const errors = [{ attempt: 1, at: 5, code: "ink", message: "No ink." }];
    expect(await settled(id, "2:0", "a", errors)).toMatchObject({ taken: true, same: false });
    await crash();
    expect(await settled(id, "2:0", "a")).toMatchObject({ taken: false, same: true });
    expect(await settled(id, "2:0", "b")).toMatchObject({ taken: false, same: false });
    expect(await records(id)).toHaveLength(3);
    await control(id, "resume");
    const { context } = await arrived(id, "done");
    expect(context.got).toBe("a");
    const last = { kind: "activity_done", by: "worker", payload: { errors } };
    expect((await records(id)).at(-1)).toMatchObject(last);
    await expectReplays(id);
  });
});

describe("a result after the deadline", () => {
  test("is late also where more is due before it than one transaction fires", async () => {
    onTestFinished(lowered("timersPerTransaction", 2));
    const id = await working({ deadlineMs: 60_000 });
    const body = { type: "NOTE", delayMs: 10_000 };
    for (let n = 0; n < 3; n += 1) await call("POST", `/v1/actors/${id}/schedule`, { body });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 70_000 });
    onTestFinished(() => void vi.useRealTimers());
    const tried = await until(
      () => settled(id, "2:0", "a"),
      (answer) => answer !== undefined,
    );
    expect(tried).toMatchObject({ taken: false, status: "failed" });
    const log = (await records(id)).map(({ type, reason }) => reason ?? type);
    expect(log.slice(-3)).toEqual(["no_transition", "@error:call", "late"]);
    await expectReplays(id);
  });
});

describe("a result that came while its actor was paused", () => {
  /** What the log says after the pause and its end, by kind and by what fired. */
  async function since(id: string): Promise<string[]> {
    const log = await records(id);
    const resumed = log.findIndex(({ kind }) => kind === "resumed");
    return log.slice(resumed + 1).map(({ kind, type, reason }) => reason ?? type ?? kind);
  }

  /** Both have happened since, and nothing is left to be done. */
  async function expectLate(id: string, wanted: [string, "late"]): Promise<void> {
    await until(
      () => since(id),
      ({ length }) => length === 2,
    );
    expect(await since(id)).toEqual(wanted);
    expect(await outboxOf(id)).toEqual([]);
    await expectReplays(id);
  }

  test("before the deadline is taken before it, over a crash, though the actor goes on after it", async () => {
    const id = await working({ deadlineMs: 60_000 });
    await control(id, "pause");
    await advanceClock(id, 50_000);
    expect(await settled(id, "2:0", "a")).toMatchObject({ taken: true });
    await advanceClock(id, 50_000);
    await crash();
    await control(id, "resume");
    expect((await arrived(id, "done")).context.got).toBe("a");
    expect(await since(id)).toEqual(["@done:call"]);
    expect(await outboxOf(id)).toEqual([]);
    await expectReplays(id);
  });

  test("after the deadline is late, and recorded when the actor goes on", async () => {
    const id = await working({ deadlineMs: 60_000 });
    await control(id, "pause");
    await advanceClock(id, 60_000);
    const refused = { taken: false, status: null, same: false };
    expect(await settled(id, "2:0", "a")).toEqual(refused);
    expect(await settled(id, "2:0", "a")).toEqual(refused);
    await control(id, "resume");
    expect((await arrived(id, "failed")).context.got.code).toBe("deadline");
    await expectLate(id, ["@error:call", "late"]);
  });

  test("takes its turn among the timers that were due meanwhile", async () => {
    const after = (ms: number) => ({
      [ms]: { actions: { type: "@perdure.setRef", name: "r", value: `${ms}` } },
    });
    const leaving = { after: { ...after(10_000), ...after(70_000), 90_000: "idle" } };
    const machine = caller({ deadlineMs: 80_000 }) as { states: { calling: object } };
    Object.assign(machine.states.calling, leaving);
    service(hanging);
    const id = await spawned(machine);
    await sent(id, "GO");
    await control(id, "pause");
    await advanceClock(id, 20_000);
    expect(await settled(id, "2:0", "a")).toMatchObject({ taken: true });
    await advanceClock(id, 100_000);
    await control(id, "resume");
    await arrived(id, "done");
    expect(await since(id)).toEqual(["@timer:calling:10000", "@done:call"]);
    await expectReplays(id);
  });

  test("is late where a timer that was due before it has left the state", async () => {
    const machine = caller({}) as { states: { calling: object } };
    Object.assign(machine.states.calling, { after: { 10_000: "idle" } });
    service(hanging);
    const id = await spawned(machine);
    await sent(id, "GO");
    await control(id, "pause");
    await advanceClock(id, 20_000);
    await settled(id, "2:0", "a");
    await control(id, "resume");
    await expectLate(id, ["@timer:calling:10000", "late"]);
  });

  test("is late where the actor was terminated", async () => {
    const id = await working();
    await control(id, "pause");
    await settled(id, "2:0", "a");
    await control(id, "terminate");
    const log = await until(
      () => records(id),
      (now) => now.at(-1)?.reason === "late",
    );
    expect(log.at(-1)).toMatchObject({ kind: "activity_done", by: "worker" });
    expect(await outboxOf(id)).toEqual([]);
    await expectReplays(id);
  });
});

describe("a result that cannot be written down", () => {
  test("is taken before a deadline that passes until it can be", async () => {
    silence();
    service(() => new Response("fine"));
    const id = await spawned(caller({ deadlineMs: 3_600_000 }));
    await sqlIn(
      id,
      "CREATE TRIGGER broken BEFORE INSERT ON log WHEN NEW.kind = 'activity_done' BEGIN SELECT RAISE(ABORT, 'injected'); END",
    );
    await sent(id, "GO");
    await until(
      () => outboxOf(id),
      ([item]) => item?.known !== undefined,
    );
    await sqlIn(id, "DROP TRIGGER broken");
    await advanceClock(id, 7_200_000);
    expect((await arrived(id, "done")).context.got.body).toBe("fine");
    expect((await records(id)).filter(({ kind }) => kind === "activity_done")).toHaveLength(1);
    await expectReplays(id);
  });

  test("is asked for again under the same key", async () => {
    silence();
    const calls = service(() => new Response("fine"));
    const id = await spawned(caller({}));
    await sqlIn(
      id,
      "CREATE TRIGGER broken BEFORE INSERT ON log WHEN NEW.kind = 'activity_done' BEGIN SELECT RAISE(ABORT, 'injected'); END",
    );
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 1,
    );
    const kept = await until(
      () => outboxOf(id),
      ([item]) => item?.known !== undefined,
    );
    expect(kept).toMatchObject([{ attempts: 0 }]);
    await sqlIn(id, "DROP TRIGGER broken");
    await advanceClock(id, LIMITS.alarmRetryMostMs);
    const { context } = await arrived(id, "done");
    expect(context.got.body).toBe("fine");
    // It was kept, so nobody was asked twice.
    expect(calls).toHaveLength(1);
    await expectReplays(id);
  });
});

describe("many activities at once", () => {
  test("are called six at a time, and each in its turn", async () => {
    let underWay = 0;
    let most = 0;
    let open = false;
    const answer = async (sentCall: OutgoingCall) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await until(
        async () => open,
        (now) => now,
      );
      underWay -= 1;
      return new Response(sentCall.url);
    };
    const calls = service(answer);
    const region = (n: number) => ({
      initial: "calling",
      states: {
        calling: {
          invoke: {
            id: `call${n}`,
            src: "http",
            input: { url: `http://service.example/${n}` },
            onDone: "done",
            onError: "done",
          },
        },
        done: { type: "final" },
      },
    });
    const regions = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`r${n}`, region(n)]));
    const id = await spawned({
      initial: "idle",
      states: {
        idle: { on: { GO: "all" } },
        all: { type: "parallel", states: regions, onDone: "done" },
        done: {},
      },
    });
    await sent(id, "GO");
    await until(
      async () => calls.length,
      (count) => count === 6,
    );
    expect(calls).toHaveLength(6);
    open = true;
    expect((await arrived(id, "done")).stateValue).toBe("done");
    expect(calls).toHaveLength(10);
    expect(most).toBe(6);
    await expectReplays(id);
  });
});
