import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { actorNow, evict, expectReplays, records, sent, spawned } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Answer, Body, CallOptions } from "../support/api.ts";
import { changed, ruled, useRules, versions, visited } from "../support/moves.ts";

const HOUR_MS = 3_600_000;
const noted = { actions: { type: "@xstate.log", args: ["noted"] } };

const first = {
  initial: "a",
  context: { n: 1, of: { list: [1] } },
  states: {
    a: { on: { STAY: noted, GO: "b" }, after: { [HOUR_MS]: "b", [2 * HOUR_MS]: "b" } },
    b: { on: { BACK: "a" } },
  },
};
const second = {
  initial: "c",
  states: {
    c: { on: { GO: "d" }, after: { [HOUR_MS]: "d", [3 * HOUR_MS]: "d" } },
    d: { type: "final" },
  },
};
const third = { initial: "e", states: { e: { on: { GO: "f" } }, f: {} } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  useRules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const act = (id: string, action: string, body: unknown = {}, options: CallOptions = {}) =>
  call("POST", `/v1/actors/${id}/${action}`, { body, ...options });
const rollback = (id: string, options: CallOptions = {}) => act(id, "rollback", {}, options);

/** Moved from `a` of the first version over `c` of the second to `e` of the third. */
async function twiceMoved(): Promise<{ id: string; ids: [string, string, string] }> {
  const ids = (await versions(first, second, third)) as [string, string, string];
  const id = await spawned(ids[0], { refs: { order: "1" } });
  const [v1, v2, v3] = ids;
  const rule = await ruled(v1, v2, { stateMapping: { a: "c" }, contextMapping: { n: 2 } });
  await ruled(v2, v3, { stateMapping: { c: "e" }, contextMapping: { "of.more": true } });
  expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
  return { id, ids };
}

/** What a move may change. */
const stand = ({ definitionId, stateValue, context, timers, status, refs }: Body) => ({
  definitionId,
  stateValue,
  context,
  timers,
  status,
  refs,
});

describe("a rollback", () => {
  test("of a chain brings back one version after the other", async () => {
    const { id, ids } = await twiceMoved();
    const [v1, v2, v3] = ids;
    expect(await actorNow(id)).toMatchObject({ definitionId: v3, stateValue: "e", seq: 3 });
    const keys = [fresh("k"), fresh("k")];
    const once = await rollback(id, { key: keys[0]! });
    expect(once.body).toMatchObject({ definitionId: v2, stateValue: "c", context: { n: 2 } });
    await sent(id, "UNKNOWN");
    const twice = await rollback(id, { key: keys[1]! });
    expect(twice.body).toMatchObject({ definitionId: v1, stateValue: "a", context: { n: 1 } });
    expect(stand(twice.body)).toEqual(stand(await actorNow(id, "?at=1")));
    expectProblem(await rollback(id), 409, "rollback_refused");
    await evict(id);
    expect((await rollback(id, { key: keys[0]! })).body).toEqual(once.body);
    expect((await rollback(id, { key: keys[1]! })).body).toEqual(twice.body);
    expect((await sent(id, "GO")).body).toMatchObject({ definitionId: v1, migratedTo: null });
    await expectReplays(id);
  });

  test("is the same under its key, whatever it is repeated with, and minds If-Match", async () => {
    const { id } = await twiceMoved();
    const stale = await rollback(id, { headers: { "If-Match": '"2"' } });
    expectProblem(stale, 412, "seq_mismatch");
    const key = fresh("k");
    const done = await act(
      id,
      "rollback",
      { reason: "one" },
      { key, headers: { "If-Match": '"3"' } },
    );
    expect(done.status).toBe(200);
    const other = await act(id, "rollback", { reason: "two" }, { key });
    expectProblem(other, 422, "idempotency_key_reused");
    const paused = await act(id, "pause", {}, { key });
    expectProblem(paused, 422, "idempotency_key_reused");
    const again = await act(id, "rollback", { reason: "one" }, { key });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual(done.body);
    expect((await records(id)).length).toBe(4);
  });

  test.each<[string, (id: string) => Promise<Answer>]>([
    ["schedule", (id) => act(id, "schedule", { type: "X", delayMs: 1_000 })],
    ["pause", (id) => act(id, "pause")],
    ["change of refs", (id) => call("PATCH", `/v1/actors/${id}`, { body: { refs: { a: "b" } } })],
    ["rescue", (id) => act(id, "rescue", { reason: "by hand" })],
  ])("is refused after a %s", async (_, live) => {
    const { id } = await twiceMoved();
    expect((await live(id)).status).toBeLessThan(300);
    expectProblem(await rollback(id), 409, "rollback_refused");
  });

  test("is possible after a move that was refused", async () => {
    const [v1, v2, v3] = await versions(first, second, third);
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { stateMapping: { a: "c" } });
    await visited(id, rule);
    const refused = await ruled(v2!, v3!, { onUnmappable: "strand" });
    expect(await visited(id, refused)).toMatchObject({ outcome: "stranded" });
    const back = await rollback(id);
    expect(back.body).toMatchObject({ definitionId: v1, stateValue: "a", status: "active" });
    await expectReplays(id);
  });

  test("of a move that emitted events is refused: they are out", async () => {
    const emit = { type: "@xstate.emit", event: { type: "told" } };
    const [v1, v2] = await versions(first, {
      initial: "a",
      states: { a: { always: { target: "b", actions: emit } }, b: {} },
    });
    const id = await spawned(v1!);
    await visited(id, await ruled(v1!, v2!, {}));
    const refused = await rollback(id);
    expectProblem(refused, 409, "rollback_refused");
    expect(refused.body.detail).toContain("emitted");
  });

  test("puts timers back, those too that were due meanwhile", async () => {
    const [v1, v2] = await versions(first, {
      initial: "a",
      states: { a: { on: { GO: "b" } }, b: {} },
    });
    const id = await spawned(v1!);
    await visited(id, await ruled(v1!, v2!, {}));
    expect(await actorNow(id)).toMatchObject({ timers: [] });
    vi.setSystemTime(Date.now() + HOUR_MS);
    const back = await rollback(id);
    expect(back.body).toMatchObject({ definitionId: v1, stateValue: "b", timers: [], seq: 4 });
    await expectReplays(id);
  });
});

describe("a rescue", () => {
  test("is bound to its body by its key, and minds If-Match", async () => {
    const { id } = await twiceMoved();
    const body = { stateValue: "f", reason: "by hand" };
    expectProblem(
      await act(id, "rescue", body, { headers: { "If-Match": '"1"' } }),
      412,
      "seq_mismatch",
    );
    const key = fresh("k");
    const done = await act(id, "rescue", body, { key });
    expect(done.body).toMatchObject({ stateValue: "f", seq: 4 });
    for (const other of [{ ...body, stateValue: "e" }, { ...body, context: {} }, { reason: "x" }]) {
      expectProblem(await act(id, "rescue", other, { key }), 422, "idempotency_key_reused");
    }
    await evict(id);
    expect((await act(id, "rescue", body, { key })).body).toEqual(done.body);
    expect((await records(id)).length).toBe(4);
  });

  test("takes no state that the definition does not have, however it is written", async () => {
    const [v1] = await versions(first);
    const id = await spawned(v1!);
    const values = [
      `"nowhere"`,
      `"__proto__"`,
      `"constructor"`,
      `"a.b"`,
      `""`,
      `{}`,
      `{"__proto__": "a"}`,
      `{"a": {}, "b": {}}`,
      `{"a": {"a": {}}}`,
      `{"constructor": {}}`,
      `{"a": null}`,
      `{"a": 1}`,
      `{"a": []}`,
    ];
    for (const value of values) {
      const answer = await act(id, "rescue", `{"stateValue": ${value}, "reason": "r"}`);
      expect([400, 422], `${value} ${JSON.stringify(answer.body)}`).toContain(answer.status);
      expect(answer.body.errors?.[0]?.pointer, value).toMatch(/^\/stateValue/);
    }
    for (const value of [`1`, `null`, `[]`, `["a"]`, `true`]) {
      const answer = await act(id, "rescue", `{"stateValue": ${value}, "reason": "r"}`);
      expectProblem(answer, 400, "invalid_request");
    }
    expect((await records(id)).length).toBe(1);
    expect(await actorNow(id)).toMatchObject({ stateValue: "a" });
  });

  test("keeps a context as it is given, names of the language too", async () => {
    const [v1] = await versions(first);
    const id = await spawned(v1!);
    const context = `{"__proto__": {"polluted": 1}, "constructor": 2, "@expr": "1 + 1"}`;
    const answer = await act(id, "rescue", `{"context": ${context}, "reason": "r"}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    await evict(id);
    const { context: kept } = await actorNow(id);
    expect(JSON.stringify(kept)).toBe(JSON.stringify(JSON.parse(context)));
    expect((await sent(id, "GO")).body).toMatchObject({ handled: true });
    await expectReplays(id);
  });

  test("of a stranded actor with another definition goes on there; rules see it at once", async () => {
    const [v1, v2, v3] = await versions(first, second, third);
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { onUnmappable: "strand" });
    await visited(id, rule);
    await ruled(v2!, v3!, { match: "all", stateMapping: { c: "e" } });
    const body = { definitionId: v2, stateValue: "c", reason: "by hand" };
    const answer = await act(id, "rescue", body);
    expect(answer.body).toMatchObject({
      definitionId: v3,
      stateValue: "e",
      status: "active",
      needsAttention: [],
    });
    expect((await records(id)).map(({ kind }) => kind)).toEqual([
      "spawned",
      "migrated",
      "rescued",
      "migrated",
    ]);
    const back = await rollback(id);
    expect(back.body).toMatchObject({ definitionId: v2, stateValue: "c" });
    expectProblem(await rollback(id), 409, "rollback_refused");
    await expectReplays(id);
  });
});

describe("the log", () => {
  test("shows what became of timers, and what was dropped, without what the actor was", async () => {
    const remembering = {
      initial: "on",
      states: {
        on: {
          initial: "x",
          states: { x: { on: { NEXT: "y" } }, y: {}, hist: { type: "history" } },
          on: { OFF: "off" },
        },
        off: { on: { ON: "on.hist" }, after: { [HOUR_MS]: "on", [2 * HOUR_MS]: "on" } },
      },
    };
    const plain = {
      initial: "off",
      states: { off: { after: { [HOUR_MS]: "on", [3 * HOUR_MS]: "on" } }, on: {} },
    };
    const [v1, v2, v3] = await versions(remembering, plain, { initial: "z", states: { z: {} } });
    const id = await spawned(v1!);
    await sent(id, "NEXT");
    const off = await sent(id, "OFF");
    const due = (hours: number) =>
      new Date(Date.parse(off.body.at) + hours * HOUR_MS).toISOString();
    const rule = await ruled(v1!, v2!, {});
    await visited(id, rule);
    const refused = await ruled(v2!, v3!, {});
    await visited(id, refused);
    await rollback(id);
    await act(id, "rescue", { stateValue: { on: "x" }, reason: "by hand" });
    const log = await records(id);
    expect(log.slice(0, 3).map(({ moved }) => moved)).toEqual([null, null, null]);
    expect(log.slice(3).map(({ kind, moved }) => [kind, moved])).toEqual([
      [
        "migrated",
        {
          outcome: "migrated",
          kept: [{ state: "off", delay: String(HOUR_MS), dueAt: due(1) }],
          cancelled: [{ state: "off", delay: String(2 * HOUR_MS), dueAt: due(2) }],
          started: [{ state: "off", delay: String(3 * HOUR_MS), dueAt: due(3) }],
          dropped: ["on.hist"],
          activities: { kept: [], cancelled: [], started: [] },
        },
      ],
      ["migrated", { outcome: "unmappable" }],
      ["rolled_back", { outcome: "rolled_back" }],
      [
        "rescued",
        {
          outcome: "rescued",
          kept: [],
          cancelled: [
            { state: "off", delay: String(HOUR_MS), dueAt: due(1) },
            { state: "off", delay: String(2 * HOUR_MS), dueAt: due(2) },
          ],
          started: [],
          dropped: [],
          activities: { kept: [], cancelled: [], started: [] },
        },
      ],
    ]);
    expect(JSON.stringify(log)).not.toContain(`"before"`);
    expect((await actorNow(id, "?at=6")).timers).toEqual((await actorNow(id, "?at=3")).timers);
    await expectReplays(id);
  });

  test("of a life with moves, rollbacks and a rescue is shown, timed, exported and replayed", async () => {
    const { id, ids } = await twiceMoved();
    const [v1, v2, v3] = ids;
    await rollback(id);
    await rollback(id);
    await sent(id, "GO");
    await act(id, "rescue", { definitionId: v3, stateValue: "f", reason: "by hand" });
    await act(id, "pause");
    await evict(id);
    const shown = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map(async (seq) => {
        const { definitionId, stateValue, status } = await actorNow(id, `?at=${seq}`);
        return [definitionId, stateValue, status];
      }),
    );
    expect(shown).toEqual([
      [v1, "a", "active"],
      [v2, "c", "active"],
      [v3, "e", "active"],
      [v2, "c", "active"],
      [v1, "a", "active"],
      [v1, "b", "active"],
      [v3, "f", "active"],
      [v3, "f", "paused"],
    ]);
    const { items } = (await call("GET", `/v1/actors/${id}/timeline`)).body;
    expect(items.map(({ state, enteredSeq, by }: Body) => [state, enteredSeq, by])).toEqual([
      ["a", 1, "spawned"],
      ["c", 2, "migrated"],
      ["e", 3, "migrated"],
      ["c", 4, "rolled_back"],
      ["a", 5, "rolled_back"],
      ["b", 6, "GO"],
      ["f", 7, "rescued"],
    ]);
    const exported = (await call("GET", `/v1/actors/${id}/export`)).body;
    expect(exported.log.length).toBe(8);
    expect(exported.definitions.map((one: Body) => one.id).toSorted()).toEqual([v1, v2, v3]);
    const { items: decided } = (await call("GET", `/v1/actors/${id}/decisions`)).body;
    expect(decided.map((one: Body) => one.outcome)).toEqual(["rolled_back", "rolled_back"]);
    await expectReplays(id);
  });

  test("starts a later version's timer from when a state was entered, over rollbacks", async () => {
    const slow = { initial: "a", states: { a: { after: { [5 * HOUR_MS]: "b" } }, b: {} } };
    const [v1, v2, v3, v4] = await versions(first, second, third, slow);
    const id = await spawned(v1!);
    const born = Date.now();
    const one = await ruled(v1!, v2!, { stateMapping: { a: "c" } });
    const two = await ruled(v2!, v3!, { stateMapping: { c: "e" } });
    vi.setSystemTime(Date.now() + 60_000);
    await visited(id, one);
    await rollback(id);
    vi.setSystemTime(Date.now() + 60_000);
    await rollback(id);
    await changed(two, { state: "retired" });
    await visited(id, await ruled(v1!, v4!, {}));
    expect(await actorNow(id)).toMatchObject({
      definitionId: v4,
      timers: [{ dueAt: new Date(born + 5 * HOUR_MS).toISOString() }],
    });
    await expectReplays(id);
    forgetRules(DEFAULT_TENANT);
  });
});
