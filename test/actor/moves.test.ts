import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { STEP_BYTES } from "../../src/fingerprint/decide-histories.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import {
  actorNow,
  advanceClock,
  alarmOf,
  evict,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { changed, ruled, useRules, versions, visited } from "../support/moves.ts";
import { callsOf } from "../support/registry.ts";

const loan = {
  initial: "applying",
  context: { paid: false },
  states: {
    applying: { on: { SUBMIT: { target: "awaiting" } } },
    awaiting: {
      on: {
        PAY: {
          actions: { type: "@xstate.assign", context: { paid: true } },
        },
        WAIVE: {},
        APPROVE: { target: "approved" },
      },
    },
    approved: {},
  },
};
const loanV1 = {
  ...loan,
  states: {
    ...loan.states,
    awaiting: {
      on: {
        ...loan.states.awaiting.on,
        WAIVE: { actions: { type: "@xstate.assign", context: { waived: true } } },
      },
    },
  },
};
const loanV2 = {
  ...loanV1,
  states: {
    ...loanV1.states,
    awaiting: { on: { ...loanV1.states.awaiting.on, APPROVE: { target: "checking" } } },
    checking: { on: { OK: { target: "approved" } } },
  },
};

beforeEach(() => useRules());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const kinds = async (id: string): Promise<string[]> =>
  (await records(id)).map(({ kind, type }) => (type === null ? kind : `${kind} ${type}`));

describe("an event", () => {
  test("that makes a history match moves the actor in the same request, another history stays", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const alice = await spawned(v1!);
    const bob = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["SUBMIT", "PAY"] });
    for (const id of [alice, bob]) await sent(id, "SUBMIT");
    const paid = await sent(alice, "PAY");
    expect(paid.body).toMatchObject({
      seq: 3,
      actorSeq: 4,
      migratedTo: v2,
      definitionId: v2,
      stateValue: "awaiting",
      handled: true,
    });
    const waived = await sent(bob, "WAIVE");
    expect(waived.body).toMatchObject({ seq: 3, actorSeq: 3, migratedTo: null, definitionId: v1 });
    expect((await sent(alice, "APPROVE")).body).toMatchObject({ stateValue: "checking" });
    expect((await sent(bob, "APPROVE")).body).toMatchObject({ stateValue: "approved" });
    expect(await actorNow(alice)).toMatchObject({ definitionId: v2, context: { paid: true } });
    for (const id of [alice, bob]) await expectReplays(id);
  });

  test("after a rule came into force is handled by the new version, whoever came by before", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    await sent(id, "SUBMIT");
    await sent(id, "PAY");
    await ruled(v1!, v2!, { historyPath: ["SUBMIT", "PAY"] });
    const approved = await sent(id, "APPROVE");
    expect(approved.body).toMatchObject({
      seq: 5,
      actorSeq: 5,
      migratedTo: v2,
      stateValue: "checking",
    });
    expect(await kinds(id)).toEqual([
      "spawned",
      "event SUBMIT",
      "event PAY",
      "migrated",
      "event APPROVE",
    ]);
    await expectReplays(id);
  });

  test("sent again says what it said the first time, after moves and a wake", async () => {
    const [v1, v2, v3] = await versions(loanV1, loanV2, loanV2);
    const id = await spawned(v1!);
    await sent(id, "SUBMIT");
    await ruled(v1!, v2!, { historyPath: ["SUBMIT", "PAY"] });
    const key = fresh("k");
    const first = await sent(id, "PAY", undefined, { key });
    await ruled(v2!, v3!, {});
    await sent(id, "APPROVE");
    await evict(id);
    const again = await sent(id, "PAY", undefined, { key });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });

  test("that is refused leaves what was due before it: the move stays", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, {});
    const refused = await sent(id, "NOPE", undefined, { headers: { Prefer: "handling=strict" } });
    expectProblem(refused, 409, "event_not_accepted");
    expect(await kinds(id)).toEqual(["spawned", "migrated"]);
    const stale = await sent(id, "SUBMIT", undefined, { headers: { "If-Match": '"1"' } });
    expectProblem(stale, 412, "seq_mismatch");
  });
});

describe("a batch", () => {
  test("with a move in the middle answers each event as it was, and again", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["SUBMIT", "PAY"] });
    const events = ["SUBMIT", "PAY", "APPROVE"].map((type) => ({ type }));
    const key = fresh("k");
    const send = () => call("POST", `/v1/actors/${id}/events/batch`, { body: { events }, key });
    const first = await send();
    expect(first.body.results).toMatchObject([
      { seq: 2, actorSeq: 2, migratedTo: null, definitionId: v1 },
      { seq: 3, actorSeq: 4, migratedTo: v2, definitionId: v2, stateValue: "awaiting" },
      { seq: 5, actorSeq: 5, migratedTo: null, definitionId: v2, stateValue: "checking" },
    ]);
    await evict(id);
    expect((await send()).body).toEqual(first.body);
    await expectReplays(id);
  });

  test("that is refused moves nobody by what it would have done", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["SUBMIT"] });
    const body = { events: [{ type: "SUBMIT" }, { type: "NOPE" }] };
    const headers = { Prefer: "handling=strict" };
    const answer = await call("POST", `/v1/actors/${id}/events/batch`, { body, headers });
    expectProblem(answer, 409, "event_not_accepted");
    expect(await kinds(id)).toEqual(["spawned"]);
    expect((await sent(id, "SUBMIT")).body).toMatchObject({ seq: 2, actorSeq: 3, migratedTo: v2 });
  });
});

describe("points", () => {
  test("birth is one: an actor spawned on the parent moves at once, and its repeat says the same", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    await ruled(v1!, v2!, {});
    const key = fresh("k");
    const body = { definitionId: v1, id: fresh("a") };
    const born = await call("POST", "/v1/actors", { body, key });
    expect(born).toMatchObject({ status: 201, body: { definitionId: v2, seq: 2 } });
    await sent(born.body.id, "SUBMIT");
    await evict(born.body.id);
    const again = await call("POST", "/v1/actors", { body, key });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual(born.body);
    await expectReplays(born.body.id);
  });

  test("chains go on until nobody applies", async () => {
    const [v1, v2, v3] = await versions(loanV1, loanV2, loanV2);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["SUBMIT"] });
    await ruled(v2!, v3!, { historyPath: ["SUBMIT"] });
    const answer = await sent(id, "SUBMIT");
    expect(answer.body).toMatchObject({ seq: 2, actorSeq: 4, migratedTo: v3, definitionId: v3 });
    await evict(id);
    expect((await sent(id, "PAY")).body).toMatchObject({ seq: 5, migratedTo: null });
    await expectReplays(id);
  });

  test("every call that writes is one: control, refs, schedules, the clock, a rousing, a visit", async () => {
    const acts: Record<string, (id: string) => Promise<unknown>> = {
      pause: (id) => call("POST", `/v1/actors/${id}/pause`),
      refs: (id) => call("PATCH", `/v1/actors/${id}`, { body: { refs: { a: "b" } } }),
      schedule: (id) =>
        call("POST", `/v1/actors/${id}/schedule`, { body: { type: "X", delayMs: 60_000 } }),
      clock: (id) => advanceClock(id, 1_000),
    };
    for (const [name, act] of Object.entries(acts)) {
      const [v1, v2] = await versions(loanV1, loanV2);
      const id = await spawned(v1!);
      await ruled(v1!, v2!, {});
      await act(id);
      expect((await kinds(id)).slice(0, 2), name).toEqual(["spawned", "migrated"]);
      expect(await actorNow(id), name).toMatchObject({ definitionId: v2 });
      await expectReplays(id);
    }
  });

  test("a paused actor moves and stays paused; one that has ended never moves", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const paused = await spawned(v1!);
    await call("POST", `/v1/actors/${paused}/pause`);
    const ended = await spawned(v1!);
    await call("POST", `/v1/actors/${ended}/terminate`);
    const rule = await ruled(v1!, v2!, {});
    expect(await visited(paused, rule)).toEqual({ outcome: "migrated" });
    expect(await actorNow(paused)).toMatchObject({ definitionId: v2, status: "paused" });
    expect(await visited(ended, rule)).toEqual({ outcome: "finished" });
    expect(await actorNow(ended)).toMatchObject({ definitionId: v1, seq: 2 });
  });
});

describe("who wins", () => {
  test("the rule that has taken the actor for longest", async () => {
    const [v1, v2, v3] = await versions(loanV1, loanV2, loanV2);
    const id = await spawned(v1!);
    const first = await ruled(v1!, v2!, { historyPath: ["SUBMIT"] });
    await ruled(v1!, v3!, { historyPath: ["SUBMIT"] });
    await changed(first, { state: "paused" });
    await changed(first, { state: "active" });
    expect((await sent(id, "SUBMIT")).body).toMatchObject({ migratedTo: v3 });
  });

  test("a canary takes its share, and holds the others until it grows", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { percent: 0, historyPath: ["SUBMIT"] });
    expect(await visited(id, rule)).toEqual({ outcome: "pending" });
    expect((await sent(id, "SUBMIT")).body).toMatchObject({ migratedTo: null });
    expect(await visited(id, rule)).toEqual({ outcome: "held" });
    await changed(rule, { percent: 100 });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
  });

  test("a paused rule moves nobody", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, {});
    await changed(rule, { state: "paused" });
    expect((await sent(id, "SUBMIT")).body).toMatchObject({ migratedTo: null });
    expect(await visited(id, rule)).toEqual({ outcome: "held" });
    await changed(rule, { state: "active" });
    expect((await sent(id, "PAY")).body).toMatchObject({ migratedTo: v2 });
  });

  test("an actor that diverged, or is elsewhere, says so", async () => {
    const [v1, v2, v3] = await versions(loanV1, loanV2, loanV2);
    const id = await spawned(v1!);
    const other = await ruled(v1!, v3!, { historyPath: ["SUBMIT", "PAY"] });
    const rule = await ruled(v1!, v2!, { historyPath: ["SUBMIT", "WAIVE"] });
    await sent(id, "SUBMIT");
    await sent(id, "WAIVE");
    expect(await visited(id, other)).toEqual({ outcome: "elsewhere" });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    const second = await spawned(v1!);
    await sent(second, "SUBMIT");
    await sent(second, "UNKNOWN");
    await sent(second, "WAIVE");
    expect(await visited(second, other)).toEqual({ outcome: "elsewhere" });
    const third = await spawned(v1!);
    await changed(rule, { state: "retired" });
    await sent(third, "SUBMIT");
    await sent(third, "WAIVE");
    expect(await visited(third, other)).toEqual({ outcome: "diverged" });
  });
});

describe("late timers", () => {
  const clocked = (target: string) => ({
    initial: "a",
    states: { a: { after: { "60000": target } }, b: { on: { GO: {} } }, c: { on: { GO: {} } } },
  });

  test("that were due before a rule came into force fire on the old version, however late", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const [v1, v2] = await versions(clocked("b"), clocked("c"));
    const id = await spawned(v1!);
    vi.setSystemTime(Date.now() + 60_001);
    const rule = await ruled(v1!, v2!, {});
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    expect(await kinds(id)).toEqual(["spawned", "timer @timer:a:60000", "migrated"]);
    expect(await actorNow(id)).toMatchObject({ stateValue: "b", definitionId: v2 });
    await expectReplays(id);
  });

  test("that were due after it fire on the new version", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const [v1, v2] = await versions(clocked("b"), clocked("c"));
    const id = await spawned(v1!);
    await ruled(v1!, v2!, {}, 30_000);
    vi.setSystemTime(Date.now() + 90_000);
    await ringAlarm(id);
    expect(await kinds(id)).toEqual(["spawned", "migrated", "timer @timer:a:60000"]);
    expect(await actorNow(id)).toMatchObject({ stateValue: "c", definitionId: v2 });
    await expectReplays(id);
  });
});

describe("an actor without a place in the new version", () => {
  const narrow = { initial: "applying", states: { applying: {}, elsewhere: {} } };

  test("stays and goes on, is recorded once per state, and is tried again", async () => {
    const [v1, v2] = await versions(loanV1, {
      ...narrow,
      states: { ...narrow.states, approved: {} },
    });
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { historyPath: ["SUBMIT"] });
    const answer = await sent(id, "SUBMIT");
    expect(answer.body).toMatchObject({
      actorSeq: 3,
      migratedTo: null,
      definitionId: v1,
      stateValue: "awaiting",
    });
    expect(await visited(id, rule)).toMatchObject({
      outcome: "unmappable",
      reason: expect.stringContaining("state_missing"),
    });
    expect((await sent(id, "PAY")).body).toMatchObject({ seq: 4, actorSeq: 4, migratedTo: null });
    expect((await sent(id, "APPROVE")).body).toMatchObject({ seq: 5, migratedTo: v2 });
    expect(await kinds(id)).toEqual([
      "spawned",
      "event SUBMIT",
      "migrated",
      "event PAY",
      "event APPROVE",
      "migrated",
    ]);
    await expectReplays(id);
  });

  test("is stranded where the rule says so, until a rule with a mapping moves it on", async () => {
    const [v1, v2] = await versions(loanV1, narrow);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["SUBMIT"], onUnmappable: "strand" });
    expect((await sent(id, "SUBMIT")).body).toMatchObject({ status: "stranded", actorSeq: 3 });
    expectProblem(await sent(id, "PAY"), 409, "actor_not_active");
    expect((await records(id)).length).toBe(3);
    const fixed = await ruled(v1!, v2!, { stateMapping: { awaiting: "elsewhere" } });
    expect(await visited(id, fixed)).toEqual({ outcome: "outranked" });
    await expectReplays(id);
  });
});

describe("rules and their lease", () => {
  test("an actor decides nothing while the registry cannot be asked, and says so", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const [v1] = await versions(loanV1);
    const id = await spawned(v1!);
    const rules = vi.spyOn(RegistryObject.prototype, "rules");
    rules.mockResolvedValue({ ok: false, failure: { code: "unavailable", detail: "It is down." } });
    // Within the lease nobody is asked.
    expect((await sent(id, "SUBMIT")).status).toBe(200);
    vi.setSystemTime(Date.now() + 60_000);
    expectProblem(await sent(id, "PAY"), 503, "unavailable");
    expect(await actorNow(id)).toMatchObject({ seq: 2 });
    useRules();
    expect((await sent(id, "PAY")).status).toBe(200);
  });

  test("a timer waits for the rules, and its alarm tries again", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const [v1] = await versions({
      initial: "a",
      states: { a: { after: { "60000": "b" } }, b: {} },
    });
    const id = await spawned(v1!);
    vi.setSystemTime(Date.now() + 90_000);
    const rules = vi.spyOn(RegistryObject.prototype, "rules");
    rules.mockResolvedValue({ ok: false, failure: { code: "unavailable", detail: "It is down." } });
    await ringAlarm(id);
    expect(await kinds(id)).toEqual(["spawned"]);
    expect(await alarmOf(id)).not.toBeNull();
    useRules();
    await ringAlarm(id);
    expect(await kinds(id)).toEqual(["spawned", "timer @timer:a:60000"]);
  });

  test("another isolate's change is known when the lease has ended", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    await sent(id, "SUBMIT");
    const rules = vi.spyOn(RegistryObject.prototype, "rules");
    const before = callsOf(rules);
    await sent(id, "SUBMIT");
    expect(callsOf(rules)).toBe(before);
    await ruled(v1!, v2!, {});
    vi.setSystemTime(Date.now() + 60_000);
    expect((await sent(id, "PAY")).body).toMatchObject({ migratedTo: v2 });
  });

  test("a visit by a young epoch asks anew within the lease", async () => {
    const [v1, v2] = await versions(loanV1, loanV2);
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, {});
    expect(await visited(id, rule, 1)).toEqual({ outcome: "migrated" });
    const refused = await visited(id, rule, 1_000_000);
    expect(refused).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  });

  test("the epoch is kept with each record, and never goes back", async () => {
    const [v1] = await versions(loanV1);
    const id = await spawned(v1!);
    await ruled(v1!, v1!, { state: "paused", ramp: [] });
    await sent(id, "SUBMIT");
    const exported = await call("GET", `/v1/actors/${id}/export`);
    const { envelope } = exported.body;
    expect(envelope.epoch).toBeGreaterThan(0);
    forgetRules(DEFAULT_TENANT);
    const rules = vi.spyOn(RegistryObject.prototype, "rules");
    rules.mockResolvedValue({ epoch: envelope.epoch - 1, rules: [] });
    expectProblem(await sent(id, "PAY"), 503, "unavailable");
  });
});

test("wherever an actor is woken, its log is the same", async () => {
  const run = async (sleepy: boolean): Promise<unknown[]> => {
    const [v1, v2, v3] = await versions(loanV1, loanV2, loanV2);
    const id = await spawned(v1!);
    const one = await ruled(v1!, v2!, { match: "subsequence", historyPath: ["SUBMIT", "PAY"] });
    const two = await ruled(v2!, v3!, { since: "entry", historyPath: ["PAY", "APPROVE", "OK"] });
    for (const type of ["UNKNOWN", "SUBMIT", "WAIVE", "PAY", "PAY", "APPROVE", "OK"]) {
      if (sleepy) await evict(id);
      await sent(id, type);
    }
    await expectReplays(id);
    const names = new Map([
      [v1, "v1"],
      [v2, "v2"],
      [v3, "v3"],
      [one, "one"],
      [two, "two"],
    ]);
    return (await records(id)).map(({ seq, kind, type, stateValue, payload, fingerprint }) => ({
      seq,
      kind,
      type,
      stateValue,
      fingerprint,
      moved: payload?.ruleId && [names.get(payload.ruleId), payload.decidedAtSeq],
    }));
  };
  const awake = await run(false);
  expect(await run(true)).toEqual(awake);
  expect(awake.filter((record) => (record as { moved?: unknown }).moved)).toMatchObject([
    { seq: 6, moved: ["one", 5] },
    { seq: 10, moved: ["two", 9] },
  ]);
});

describe("steps", () => {
  test("are counted as they are packed, timers and events that nobody handled too", async () => {
    const clocked = {
      initial: "a",
      states: {
        a: { on: { GO: { target: "b" } }, after: { "1000": { target: "b" } } },
        b: { on: { BACK: { target: "a" } } },
      },
    };
    const [v1, v2] = await versions(clocked, clocked);
    const id = await spawned(v1!);
    await advanceClock(id, 1_000);
    for (const type of ["BACK", "UNKNOWN", "GO"]) await sent(id, type);
    const rule = await ruled(v1!, v2!, {});
    await visited(id, rule);
    await sent(id, "BACK");
    const { envelope } = (await call("GET", `/v1/actors/${id}/export`)).body;
    expect(envelope).toMatchObject({ entered: { steps: 3 }, history: { length: 3, steps: 4 } });
    const [row] = await sqlIn<{ steps: string }>(id, "SELECT steps FROM actor");
    expect(atob(row!.steps).length / STEP_BYTES).toBe(envelope.history.steps);
  });
});

test("an actor whose log is full does not move, and goes on answering", async () => {
  const [v1, v2] = await versions(loanV1, loanV2);
  const id = await spawned(v1!);
  await sqlIn(
    id,
    "UPDATE actor SET snapshot = json_set(snapshot, '$.seq', ?)",
    LIMITS.recordsPerActor,
  );
  await evict(id);
  const rule = await ruled(v1!, v2!, {});
  expectProblem(await sent(id, "SUBMIT"), 422, "limit_exceeded");
  await visited(id, rule);
  expect(await actorNow(id)).toMatchObject({ definitionId: v1, seq: LIMITS.recordsPerActor });
});
