import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  actorNow,
  advanceClock,
  alarmOf,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../support/actors.ts";
import { call, expectProblem } from "../support/api.ts";
import { changed, ruled, useRules, versions, visited } from "../support/moves.ts";

const noted = { actions: { type: "@xstate.log", args: ["noted"] } };
const HOUR_MS = 3_600_000;

const first = {
  initial: "a",
  states: {
    a: { on: { GO: "b", STAY: noted }, after: { [HOUR_MS]: "late" } },
    b: { on: { BACK: "a" } },
    late: {},
  },
};
const narrow = { initial: "b", states: { b: {}, c: {} } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  useRules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** An actor that stands in `a`, for which the second version has no place. */
async function stranded(): Promise<{ id: string; v1: string; v2: string; rule: string }> {
  const [v1, v2] = (await versions(first, narrow)) as [string, string];
  const id = await spawned(v1);
  const rule = await ruled(v1, v2, { onUnmappable: "strand" });
  expect(await visited(id, rule)).toMatchObject({ outcome: "stranded" });
  return { id, v1, v2, rule };
}

const act = (id: string, action: string, body: object = {}) =>
  call("POST", `/v1/actors/${id}/${action}`, { body });

describe("a stranded actor", () => {
  test("takes no events, schedules, pause or resume: neither is a way around", async () => {
    const { id } = await stranded();
    const later = { type: "GO", delayMs: 1_000 };
    for (const answer of [
      await sent(id, "GO"),
      await act(id, "schedule", later),
      await act(id, "pause"),
      await act(id, "resume"),
      await act(id, "retry"),
      await advanceClock(id, 1_000),
    ]) {
      expectProblem(answer, 409, "actor_not_active");
      expect(answer.body).toMatchObject({ actorStatus: "stranded" });
    }
    expect((await sent(id, "GO")).body.detail).toContain("rescue");
    expect(await actorNow(id)).toMatchObject({ status: "stranded", seq: 2, nextEvents: [] });
  });

  test("is stranded when it is resumed, if it was paused before", async () => {
    const [v1, v2] = await versions(first, narrow);
    const id = await spawned(v1!);
    await act(id, "pause");
    const rule = await ruled(v1!, v2!, { onUnmappable: "strand" });
    expect(await visited(id, rule)).toMatchObject({ outcome: "unmappable" });
    expect((await act(id, "resume")).body).toMatchObject({ status: "stranded" });
    expectProblem(await sent(id, "GO"), 409, "actor_not_active");
    expectProblem(await act(id, "pause"), 409, "actor_not_active");
    await expectReplays(id);
  });

  test("keeps its timers, and fires none until it goes on", async () => {
    const { id, rule } = await stranded();
    vi.setSystemTime(Date.now() + 2 * HOUR_MS);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ status: "stranded", seq: 2, timers: [{}] });
    await changed(rule, { state: "retired" });
    const back = await act(id, "rescue", { reason: "it may stay" });
    expect(back.body).toMatchObject({ status: "active", stateValue: "late", timers: [] });
    expect((await records(id)).map(({ kind }) => kind)).toEqual([
      "spawned",
      "migrated",
      "rescued",
      "timer",
    ]);
    await expectReplays(id);
  });

  test("is not stranded again by the same rule in the same state, but in another", async () => {
    const { id, rule } = await stranded();
    await act(id, "rescue", { reason: "it may stay" });
    expect(await visited(id, rule)).toMatchObject({ outcome: "stranded" });
    expect(await actorNow(id)).toMatchObject({ status: "active", stateValue: "a" });
    expect((await sent(id, "STAY")).body).toMatchObject({ status: "active" });
    await act(id, "rescue", { stateValue: "late", reason: "by hand" });
    expect(await actorNow(id)).toMatchObject({ status: "stranded", stateValue: "late" });
    await expectReplays(id);
  });

  test("moves by a rule that has a place for it, once the one that strands is gone", async () => {
    const { id, v1, v2, rule } = await stranded();
    await changed(rule, { state: "retired" });
    const fixed = await ruled(v1, v2, { stateMapping: { a: "c" } });
    expect(await visited(id, fixed)).toEqual({ outcome: "migrated" });
    expect(await actorNow(id)).toMatchObject({ status: "active", stateValue: "c" });
    await expectReplays(id);
  });

  test("can have refs, be waited for, be ended and be deleted", async () => {
    const { id } = await stranded();
    const refs = await call("PATCH", `/v1/actors/${id}`, { body: { refs: { order: "1" } } });
    expect(refs.body).toMatchObject({ status: "stranded", refs: { order: "1" } });
    const waited = await call("GET", `/v1/actors/${id}/wait?state=a&timeoutMs=1`);
    expect(waited.body).toMatchObject({ matched: true, actor: { status: "stranded" } });
    const ended = await act(id, "terminate");
    expect(ended.body).toMatchObject({ status: "terminated", timers: [] });
    await expectReplays(id);
    const other = await stranded();
    expect((await call("DELETE", `/v1/actors/${other.id}`)).status).toBe(204);
    expect((await call("GET", `/v1/actors/${other.id}`)).status).toBe(404);
    // What is left of it is forgotten one day.
    expect(await alarmOf(other.id)).not.toBeNull();
  });
});

describe("an actor that has moved", () => {
  test("is waited for in states of its new version, by a call that began before", async () => {
    const [v1, v2] = await versions(first, { ...narrow, states: { b: {}, c: { tags: ["new"] } } });
    const id = await spawned(v1!);
    const waiting = call("GET", `/v1/actors/${id}/wait?seq=2&timeoutMs=20000`);
    const rule = await ruled(v1!, v2!, { stateMapping: { a: "c" } });
    await visited(id, rule);
    expect((await waiting).body).toMatchObject({ matched: true, actor: { stateValue: "c" } });
    const tagged = await call("GET", `/v1/actors/${id}/wait?tag=new&timeoutMs=1`);
    expect(tagged.body).toMatchObject({ matched: true });
  });

  test("keeps scheduled events and refs, and can be ended and deleted", async () => {
    const [v1, v2] = await versions(first, { ...narrow, states: { b: {}, c: { on: { X: "b" } } } });
    const id = await spawned(v1!, { refs: { order: "1" } });
    const later = await act(id, "schedule", { type: "X", delayMs: HOUR_MS });
    const rule = await ruled(v1!, v2!, { stateMapping: { a: "c" } });
    await visited(id, rule);
    expect(await actorNow(id)).toMatchObject({ refs: { order: "1" }, timers: [{ event: "X" }] });
    vi.setSystemTime(Date.now() + HOUR_MS);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "b", timers: [], seq: 4 });
    const { timerId } = later.body;
    const gone = await call("DELETE", `/v1/actors/${id}/schedule/${timerId}`);
    expectProblem(gone, 404, "timer_not_found");
    await expectReplays(id);
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
  });

  test("by its event fires in that same request what its new version says is due", async () => {
    const patient = { initial: "a", states: { a: { on: { HELLO: noted } }, c: {} } };
    const hasty = {
      initial: "a",
      states: { a: { on: { HELLO: noted }, after: { [HOUR_MS]: "c" } }, c: { tags: ["late"] } },
    };
    const [v1, v2] = await versions(patient, hasty);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["HELLO"] });
    vi.setSystemTime(Date.now() + 2 * HOUR_MS);
    const key = "the-same";
    const answer = await sent(id, "HELLO", undefined, { key });
    expect(answer.body).toMatchObject({
      seq: 2,
      actorSeq: 4,
      migratedTo: v2,
      stateValue: "c",
      tags: ["late"],
    });
    expect((await sent(id, "HELLO", undefined, { key })).body).toEqual(answer.body);
    await expectReplays(id);
  });
});
