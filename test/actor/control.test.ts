import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { createApp } from "../../src/http/app.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  actorNow,
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
} from "../support/actors.ts";

const machine = {
  initial: "a",
  context: { n: 0 },
  states: {
    a: {
      tags: ["open"],
      on: {
        GO: "b",
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
    b: { after: { "60000": "c" }, on: { END: "c" } },
    c: { type: "final" },
  },
};

function control(id: string, action: string, options: object = {}): ReturnType<typeof call> {
  return call("POST", `/v1/actors/${id}/${action}`, { body: {}, ...options });
}

describe("pause and resume", () => {
  test("a paused actor refuses events, says so, and takes them again after resume", async () => {
    const id = await spawned(machine);
    const paused = await control(id, "pause", { body: { reason: "audit" } });
    expect(paused.body).toMatchObject({ status: "paused", nextEvents: [], seq: 2 });
    const refused = await sent(id, "GO");
    expectProblem(refused, 409, "actor_not_active");
    expect(refused.body.actorStatus).toBe("paused");
    expect((await control(id, "resume")).body).toMatchObject({ status: "active", seq: 3 });
    expect((await sent(id, "GO")).body).toMatchObject({ handled: true, seq: 4 });
    expect((await records(id))[1]).toMatchObject({
      kind: "paused",
      payload: { reason: "audit" },
      principal: "dev",
    });
    await expectReplays(id);
  });

  test("where there is nothing to do binds the key too: its late repeat undoes nothing", async () => {
    const id = await spawned(machine);
    const key = fresh("k");
    const first = await control(id, "resume", { key });
    expect(first.body).toMatchObject({ status: "active", seq: 2 });
    await control(id, "pause");
    expect((await control(id, "pause")).body).toMatchObject({ status: "paused", seq: 4 });
    const late = await control(id, "resume", { key });
    expect(late.body).toEqual(first.body);
    expect((await actorNow(id)).status).toBe("paused");
    await expectReplays(id);
  });

  test("repeated with its key gives the first answer, although the actor has moved on", async () => {
    const id = await spawned(machine);
    const key = fresh("k");
    const first = await control(id, "pause", { key });
    await control(id, "resume");
    await evict(id);
    const again = await control(id, "pause", { key });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await actorNow(id)).status).toBe("active");
  });
});

describe("terminate", () => {
  test("ends an actor for good: no timers, no events, no way back", async () => {
    const id = await spawned(machine);
    await sent(id, "GO");
    expect((await control(id, "terminate")).body).toMatchObject({
      status: "terminated",
      timers: [],
      done: false,
    });
    for (const action of ["pause", "resume", "retry"]) {
      expectProblem(await control(id, action), 409, "actor_not_active");
    }
    const { seq } = await actorNow(id);
    expect((await control(id, "terminate")).body).toMatchObject({ status: "terminated", seq });
    expectProblem(await sent(id, "END"), 409, "actor_not_active");
    expectProblem(
      await call("POST", `/v1/actors/${id}/schedule`, { body: { type: "END", delayMs: 1 } }),
      409,
      "actor_not_active",
    );
    await expectReplays(id);
  });

  test("of a finished actor is refused", async () => {
    const id = await spawned(machine);
    await sent(id, "GO");
    expect((await sent(id, "END")).body).toMatchObject({ done: true, status: "done" });
    expectProblem(await control(id, "terminate"), 409, "actor_not_active");
  });
});

describe("If-Match", () => {
  const stale = { headers: { "If-Match": '"7"' } };

  test("lets a call through at the seq it names, and refuses it at another, changing nothing", async () => {
    const id = await spawned(machine);
    const read = await call("GET", `/v1/actors/${id}`);
    expect(read.headers.get("ETag")).toBe('"1"');
    const calls = [
      sent(id, "ADD", undefined, stale),
      control(id, "pause", stale),
      control(id, "terminate", stale),
      call("POST", `/v1/actors/${id}/events/batch`, {
        body: { events: [{ type: "ADD" }] },
        ...stale,
      }),
      call("POST", `/v1/actors/${id}/schedule`, { body: { type: "ADD", delayMs: 1 }, ...stale }),
      call("PATCH", `/v1/actors/${id}`, { body: { refs: { a: "b" } }, ...stale }),
      call("DELETE", `/v1/actors/${id}`, stale),
    ];
    for (const answer of await Promise.all(calls)) {
      expectProblem(answer, 412, "seq_mismatch");
      expect(answer.body.seq).toBe(1);
    }
    expect(await actorNow(id)).toMatchObject({ seq: 1, status: "active" });
    const matching = { headers: { "If-Match": '"1"' } };
    expect((await sent(id, "ADD", undefined, matching)).status).toBe(200);
  });
});

describe("refs", () => {
  test("are set at spawn, changed by PATCH and by the machine, and bounded", async () => {
    const id = await spawned(
      {
        initial: "a",
        states: {
          a: {
            on: {
              PAID: {
                actions: {
                  type: "@perdure.setRef",
                  name: "charge",
                  value: { "@expr": "event.charge" },
                },
              },
            },
          },
        },
      },
      { refs: { order: "o-1" } },
    );
    await sent(id, "PAID", { charge: "ch_1" });
    const patched = await call("PATCH", `/v1/actors/${id}`, {
      body: { refs: { order: null, customer: "c-1" } },
    });
    expect(patched.body.refs).toEqual({ charge: "ch_1", customer: "c-1" });
    expect((await actorNow(id, "?at=1")).refs).toEqual({ order: "o-1" });
    const many = Object.fromEntries(
      Array.from({ length: LIMITS.refsPerActor - 2 }, (_, n) => [`r${n}`, "x"]),
    );
    expect((await call("PATCH", `/v1/actors/${id}`, { body: { refs: many } })).status).toBe(200);
    const more = await call("PATCH", `/v1/actors/${id}`, { body: { refs: { one: "more" } } });
    expectProblem(more, 422, "limit_exceeded");
    await expectReplays(id);
  });

  test("beyond the limit are refused at spawn too, and one less can be spawned and exchanged", async () => {
    const definitionId = await deployed(machine);
    const refs = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`r${n}`, "x"]));
    const many = { definitionId, id: fresh("a"), refs: refs(LIMITS.refsPerActor + 1) };
    const refused = await call("POST", "/v1/actors", { body: many });
    expectProblem(refused, 422, "limit_exceeded");
    expect(refused.body.limit).toBe("refsPerActor");
    const id = await spawned(definitionId, { refs: refs(LIMITS.refsPerActor) });
    const exchanged = await call("PATCH", `/v1/actors/${id}`, {
      body: { refs: { r0: null, other: "y" } },
    });
    expect(exchanged.status).toBe(200);
    await expectReplays(id);
  });

  test("named __proto__ are refused instead of left out", async () => {
    const definitionId = await deployed(machine);
    const spawn = `{"definitionId":"${definitionId}","refs":{"__proto__":"x"}}`;
    expectProblem(await call("POST", "/v1/actors", { body: spawn }), 400, "invalid_request");
    const id = await spawned(definitionId, { refs: { constructor: "c" } });
    expectProblem(
      await call("PATCH", `/v1/actors/${id}`, { body: '{"refs":{"__proto__":"x"}}' }),
      400,
      "invalid_request",
    );
    expect(await actorNow(id)).toMatchObject({ seq: 1, refs: { constructor: "c" } });
  });
});

describe("wait", () => {
  const wait = (id: string, query: string): ReturnType<typeof call> =>
    call("GET", `/v1/actors/${id}/wait?${query}`);

  test("answers at once when the condition holds, and after its time when it does not", async () => {
    const id = await spawned(machine);
    expect((await wait(id, "state=a&timeoutMs=50000")).body).toMatchObject({
      matched: true,
      reason: "matched",
      actor: { seq: 1 },
    });
    expect((await wait(id, "tag=open&timeoutMs=50000")).body).toMatchObject({ matched: true });
    expect((await wait(id, "seq=1&timeoutMs=50000")).body).toMatchObject({ matched: true });
    expect((await wait(id, "state=b&timeoutMs=20")).body).toMatchObject({
      matched: false,
      reason: "timeout",
    });
  });

  test("refuses at once what the definition does not have, and names what it has", async () => {
    const id = await spawned(machine);
    const state = await wait(id, "state=B1&timeoutMs=50000");
    expectProblem(state, 400, "invalid_request");
    expect(state.body.detail).toContain("It has 'a', 'b'");
    expect(state.body.errors[0].pointer).toBe("/state");
    const tag = await wait(id, "tag=opem&timeoutMs=50000");
    expectProblem(tag, 400, "invalid_request");
    expect(tag.body.detail).toContain("Did you mean 'open'?");
  });

  test("is told by the commit that fulfils it", async () => {
    const id = await spawned(machine);
    const waiting = [
      wait(id, "state=b&timeoutMs=50000"),
      wait(id, "done=true&timeoutMs=50000"),
      wait(id, "seq=3&timeoutMs=50000"),
    ];
    await sent(id, "GO");
    expect((await waiting[0])!.body).toMatchObject({ matched: true, actor: { stateValue: "b" } });
    await sent(id, "END");
    for (const answer of await Promise.all(waiting)) expect(answer.body.matched).toBe(true);
  });

  test("ends when the actor ends another way, or is deleted", async () => {
    const ended = await spawned(machine);
    const waiting = wait(ended, "state=b&timeoutMs=50000");
    await control(ended, "terminate");
    expect((await waiting).body).toMatchObject({ matched: false, reason: "finished" });
    const deleted = await spawned(machine);
    const gone = wait(deleted, "state=b&timeoutMs=50000");
    await call("DELETE", `/v1/actors/${deleted}`);
    expectProblem(await gone, 404, "actor_not_found");
  });
});

describe("an adopted actor", () => {
  const definition = {
    initial: "form",
    states: {
      form: {
        initial: "one",
        after: { "1000": "late" },
        on: { AWAY: "away" },
        states: { one: { on: { NEXT: "two" } }, two: {}, last: { type: "history" } },
      },
      away: { on: { BACK: "form.last" } },
      late: {},
      settled: { always: "away" },
      end: { type: "final" },
    },
  };
  const adopt = async (snapshot: object, more: object = {}): ReturnType<typeof call> =>
    call("POST", "/v1/actors", {
      body: { definitionId: await deployed(definition), snapshot, ...more },
    });

  test("stands where its snapshot stands, its states' timers start, and it goes on", async () => {
    const answer = await adopt({ value: { form: "two" }, context: { old: true } });
    expect(answer.body).toMatchObject({
      stateValue: { form: "two" },
      context: { old: true },
      timers: [{ event: "@timer:form:1000" }],
    });
    const { id } = answer.body;
    await sent(id, "AWAY");
    await evict(id);
    expect((await sent(id, "BACK")).body.stateValue).toEqual({ form: "two" });
    expect((await records(id))[0].kind).toBe("adopted");
    await expectReplays(id);
  });

  test("keeps the history of XState's own persisted snapshot", async () => {
    const family = fresh("m");
    const body = { id: `${family}-v1`, definition: { ...definition, id: family } };
    await call("PUT", "/v1/definitions", { body });
    const snapshot = {
      status: "active",
      value: "away",
      context: {},
      children: {},
      historyValue: { [`${family}.form.last`]: [{ id: `${family}.form.two` }] },
    };
    const answer = await call("POST", "/v1/actors", {
      body: { definitionId: `${family}-v1`, snapshot },
    });
    expect((await sent(answer.body.id, "BACK")).body.stateValue).toEqual({ form: "two" });
  });

  test("does not stand still in a state that moves on by itself", async () => {
    expect((await adopt({ value: "settled", context: {} })).body).toMatchObject({
      stateValue: "away",
    });
  });

  const unfit: [string, object, string][] = [
    ["an unknown state", { value: "nowhere" }, "/value/nowhere"],
    ["a compound state without its child", { value: "form" }, "/value/form"],
    ["two states at once", { value: { form: "one", away: {} } }, "/value"],
    ["no value", { context: {} }, "/value"],
    ["something below a leaf", { value: { away: "x" } }, "/value/away"],
    ["a final state", { value: "end" }, "/value"],
    ["an ended snapshot", { status: "done", value: "away" }, "/status"],
    ["children", { value: "away", children: { kid: {} } }, "/children"],
    ["history of nobody", { value: "away", historyValue: { nobody: [] } }, "/historyValue/nobody"],
    ["members of a v4 state", { value: "away", _event: {} }, "/_event"],
  ];
  test.each(unfit)("cannot have %s", async (_, snapshot, pointer) => {
    const answer = await adopt(snapshot);
    expectProblem(answer, 422, "snapshot_invalid");
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
      pointer,
    );
  });
});

describe("an actor as it was", () => {
  test("is shown after each of its records, across checkpoints too", async () => {
    const id = await spawned(machine);
    const events = Array.from({ length: 100 }, () => ({ type: "ADD" }));
    for (let round = 0; round < 6; round += 1)
      await call("POST", `/v1/actors/${id}/events/batch`, { body: { events } });
    await evict(id);
    for (const seq of [1, 2, LIMITS.recordsPerSeal, 301, 302, 555, 601]) {
      expect(await actorNow(id, `?at=${seq}`)).toMatchObject({
        seq,
        context: { n: seq - 1 },
        historyLength: seq - 1,
      });
    }
    expectProblem(await call("GET", `/v1/actors/${id}?at=602`), 404, "record_not_found");
  });
});

describe("export", () => {
  test("holds the envelope, every record and the definition", async () => {
    const id = await spawned(machine);
    const events = Array.from({ length: 100 }, () => ({ type: "ADD" }));
    for (let round = 0; round < 4; round += 1)
      await call("POST", `/v1/actors/${id}/events/batch`, { body: { events } });
    const { body } = await call("GET", `/v1/actors/${id}/export`);
    expect(body.envelope).toMatchObject({ format: 3, id, seq: 401 });
    expect(body.log.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: 401 }, (_, n) => n + 1),
    );
    expect(body.definitions[0].definition.states).toEqual(machine.states);
  });

  test("breaks off when the actor is deleted meanwhile, even if its id lives again", async () => {
    const definitionId = await deployed(machine);
    const id = await spawned(definitionId);
    await sent(id, "ADD");
    const headers = { Authorization: "Bearer dev" };
    const request = new Request(`http://perdure.test/v1/actors/${id}/export`, { headers });
    const response = await createApp().fetch(request, env);
    const reader = response.body!.getReader();
    await reader.read();
    await call("DELETE", `/v1/actors/${id}`);
    await spawned(definitionId, { id });
    await expect(reader.read().then(() => reader.read())).rejects.toThrow(/broke off/);
  });
});

test("a page of the log is full by its size too, and the pages together are the log", async () => {
  const id = await spawned(machine);
  const text = "x".repeat(1_000_000);
  for (let count = 0; count < 5; count += 1) await sent(id, "NOTED", { count, text });
  const first = await call("GET", `/v1/actors/${id}/events?limit=200`);
  expect(first.body.items).toHaveLength(5);
  expect(JSON.stringify(first.body.items).length).toBeLessThanOrEqual(LIMITS.pageBytes + 2_000);
  expect(first.body.nextCursor).not.toBeNull();
  expect((await records(id)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  const { body } = await call("GET", `/v1/actors/${id}/export`);
  expect(body.log).toHaveLength(6);
});

describe("replay", () => {
  test("on another definition tells where this history would have gone another way", async () => {
    const id = await spawned(machine);
    await sent(id, "ADD");
    await sent(id, "GO");
    const other = await deployed({
      ...machine,
      states: { ...machine.states, a: { on: { GO: "c", ADD: "a" } } },
    });
    const answer = await call("POST", `/v1/actors/${id}/replay`, {
      body: { definitionId: other },
      key: null,
    });
    expect(answer.body).toEqual({
      identical: false,
      firstDivergence: {
        seq: 3,
        expected: { handled: true, stateValue: "b", failed: false },
        actual: { handled: true, stateValue: "c", failed: false },
      },
    });
    const unknown = await call("POST", `/v1/actors/${id}/replay`, {
      body: { definitionId: "nope" },
      key: null,
    });
    expectProblem(unknown, 404, "definition_not_found");
  });
});
