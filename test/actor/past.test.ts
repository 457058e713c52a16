import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { Resident } from "../../src/actor/resident.ts";
import type { ActorRpc } from "../../src/actor/rpc.ts";
import type { Work } from "../../src/actor/work.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { sha256Hex } from "../../src/base/sha256.ts";
import type { Env } from "../../src/env.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import type { Input, Origin } from "../../src/lifecycle/input.ts";
import { canonicalDefinition } from "../../src/machine/canonical.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { Db } from "../../src/storage/db.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  actorNow,
  deployed,
  evict,
  expectReplays,
  objectOf,
  sent,
  spawned,
} from "../support/actors.ts";
import { repeatsKeptSoon } from "../support/limits.ts";

const first = {
  initial: "a",
  context: { n: 1 },
  states: { a: { on: { GO: "b" } }, b: { on: { END: "c" } }, c: {} },
};
const second = {
  initial: "a",
  states: { a: {}, paid: { tags: ["new"], on: { FINISH: "c", UP: { actions: [] } } }, c: {} },
};

interface Version {
  id: string;
  hash: string;
  definition: object;
}

/** Two versions of one family. */
async function versions(): Promise<[Version, Version]> {
  const id = await deployed(first);
  const family = id.replace(/-v1$/, "");
  const definition = { ...second, id: family };
  const to = `${family}-v2`;
  const answer = await call("PUT", "/v1/definitions", { body: { id: to, definition } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const hashOf = (whole: object) => sha256Hex(canonicalDefinition(whole as never));
  const whole = { ...first, id: family };
  return [
    { id, hash: await hashOf(whole), definition: whole },
    { id: to, hash: await hashOf(definition), definition },
  ];
}

/** Gives inputs to the actor where it lives, and lets its object forget what it holds in memory. `also`: where they bring it. */
async function give(
  id: string,
  inputOf: (work: Work) => Input,
  origin: Partial<Origin> = {},
  also: string | null = null,
) {
  await runInDurableObject(objectOf(id), async (_, state) => {
    const db = new Db(state.storage);
    const resident = new Resident(db, env as unknown as Env, new AlarmClock(state.storage, db));
    await resident.ready({ also });
    const work = resident.work(resident.actor!);
    const whole = { key: null, request: null, by: null, principal: null, ...origin };
    const outcome = advance(work.actor, inputOf(work), work.now(Date.now()), whole);
    if (!outcome.ok) throw new Error(outcome.fault.message);
    work.take(outcome);
    resident.commit(work.actor, work.records);
  });
  await evict(id);
}

async function move(id: string, from: Version, to: Version, states: Record<string, string>) {
  const inputOf = (work: Work): Input => ({
    kind: "migrated",
    move: {
      ruleId: `r_${work.actor.envelope.seq}`,
      from: from.id,
      to: to.id,
      toHash: to.hash,
      decidedAtSeq: work.actor.envelope.seq,
      stateMapping: states,
      contextMapping: { m: 2 },
      entered: {},
    },
    machine: compileDefinition(to.definition as never),
  });
  await give(id, inputOf, {}, to.id);
}

async function rollBack(id: string, from: Version) {
  const log = await call("GET", `/v1/actors/${id}/export`);
  const moved = log.body.log.findLast(({ kind }: { kind: string }) => kind === "migrated");
  const machine = compileDefinition(from.definition as never);
  await give(id, () => ({ kind: "rolled_back", moved, machine, reason: null }), {}, from.id);
}

describe("an actor that has moved", () => {
  repeatsKeptSoon();

  test("is shown as it was on each of its definitions, replays, and is exported with all of them", async () => {
    const [one, two] = await versions();
    const key = fresh("key");
    const spawn = { definitionId: one.id, id: fresh("a"), input: { x: 1 } };
    const born = await call("POST", "/v1/actors", { body: spawn, key });
    const { id } = born.body;
    await sent(id, "GO");
    const pause = { key: fresh("key") };
    const paused = await call("POST", `/v1/actors/${id}/pause`, { body: {}, ...pause });
    await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    await move(id, one, two, { b: "paid" });
    expect((await sent(id, "FINISH")).body).toMatchObject({ handled: true, definitionId: two.id });

    expect(await actorNow(id, "?at=2")).toMatchObject({
      definitionId: one.id,
      stateValue: "b",
      nextEvents: ["END"],
      context: { n: 1 },
    });
    expect(await actorNow(id, "?at=5")).toMatchObject({
      definitionId: two.id,
      stateValue: "paid",
      tags: ["new"],
      context: { n: 1, m: 2 },
    });
    await expectReplays(id);

    await evict(id);
    const again = await call("POST", "/v1/actors", { body: spawn, key });
    expect(again.body).toEqual(born.body);
    await evict(id);
    const repeated = await call("POST", `/v1/actors/${id}/pause`, { body: {}, ...pause });
    expect(repeated.body).toEqual(paused.body);

    const exported = await call("GET", `/v1/actors/${id}/export`);
    expect(exported.body.definitions).toEqual([
      { id: one.id, hash: one.hash, definition: one.definition },
      { id: two.id, hash: two.hash, definition: two.definition },
    ]);
    const { items } = (await call("GET", `/v1/actors/${id}/timeline`)).body;
    expect(
      items.map(({ state, enteredSeq, by }: Record<string, unknown>) => [state, enteredSeq, by]),
    ).toEqual([
      ["a", 1, "spawned"],
      ["b", 2, "GO"],
      ["paid", 5, "migrated"],
      ["c", 6, "FINISH"],
    ]);
  });

  test("may have its history tried on one definition alone, deployed or not", async () => {
    const [one, two] = await versions();
    const id = await spawned(one.id);
    await sent(id, "GO");
    await move(id, one, two, { b: "paid" });
    await sent(id, "FINISH");
    const on = async (definitionId: string) =>
      (await call("POST", `/v1/actors/${id}/replay`, { body: { definitionId }, key: null })).body;
    expect(await on(two.id)).toMatchObject({ identical: false, firstDivergence: { seq: 2 } });
    expect(await on(one.id)).toMatchObject({ identical: false, firstDivergence: { seq: 4 } });
    const both = { ...first, id: "m", states: { ...first.states, b: { on: { FINISH: "c" } } } };
    const objectNamed = (name: string) => objectOf(name) as unknown as Pick<ActorRpc, "tryOn">;
    const tried = (definition: object) =>
      objectNamed(id).tryOn({
        tenant: "default",
        id,
        json: canonicalDefinition(definition as never),
      });
    expect(await tried(both)).toMatchObject({ ok: true, body: { identical: true } });
    expect(await tried({ ...second, id: "m" })).toMatchObject({
      body: { identical: false, firstDivergence: { seq: 2 } },
    });
    const nobody = await objectNamed(fresh("no")).tryOn({
      tenant: "default",
      id: "no",
      json: "{}",
    });
    expect(nobody).toMatchObject({ ok: false, failure: { code: "actor_not_found" } });
  });

  test("and was taken back is shown on both, also from a checkpoint in between", async () => {
    const [one, two] = await versions();
    const id = await spawned(one.id);
    const path = `/v1/actors/${id}/events/batch`;
    const fill = async (through: number) => {
      for (let { seq } = await actorNow(id); seq < through;) {
        const count = Math.min(LIMITS.eventsPerBatch, through - seq);
        const events = Array.from({ length: count }, () => ({ type: "NOBODY" }));
        expect((await call("POST", path, { body: { events } })).status).toBe(200);
        seq += count;
      }
    };
    await fill(LIMITS.recordsPerSeal - 2);
    await move(id, one, two, {});
    await fill(LIMITS.recordsPerSeal + 5);
    await rollBack(id, one);
    expect(await actorNow(id)).toMatchObject({ definitionId: one.id, context: { n: 1 } });
    await sent(id, "GO");
    const at = (seq: number) => actorNow(id, `?at=${seq}`);
    expect(await at(3)).toMatchObject({ definitionId: one.id });
    expect(await at(LIMITS.recordsPerSeal - 1)).toMatchObject({ definitionId: two.id });
    expect(await at(LIMITS.recordsPerSeal + 3)).toMatchObject({ definitionId: two.id });
    expect(await at(LIMITS.recordsPerSeal + 6)).toMatchObject({ definitionId: one.id });
    await expectReplays(id);
  });

  test("is refused while a definition that it lived on cannot be had, and lives on all the same", async () => {
    const [one, two] = await versions();
    const id = await spawned(one.id);
    await move(id, one, two, {});
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec(
        `UPDATE log SET body = json_set(body, '$.payload.definitionHash', 'gone') WHERE seq = 1`,
      );
    });
    expectProblem(await call("GET", `/v1/actors/${id}?at=1`), 503, "unavailable");
    expectProblem(await call("GET", `/v1/actors/${id}/export`), 503, "unavailable");
    const replayed = await call("POST", `/v1/actors/${id}/replay`, { body: {}, key: null });
    expectProblem(replayed, 503, "unavailable");
    expect((await sent(id, "NOBODY")).status).toBe(200);
  });
});

test("activities and a task are shown as they were after a record", async () => {
  const queue = fresh("queue");
  const id = await spawned({
    initial: "idle",
    states: {
      idle: { on: { GO: "working" } },
      working: {
        invoke: { id: "work", src: "task", input: { queue }, onDone: "idle" },
        on: { LEAVE: "idle" },
      },
    },
  });
  for (const type of ["GO", "LEAVE"]) await sent(id, type);
  const { uid } = await actorNow(id);
  const work = { id: "work", key: `${uid}:2:0`, src: "task" };
  const at = async (seq: number) => (await actorNow(id, `?at=${seq}`)).activities;
  expect(await at(1)).toEqual([]);
  expect(await at(2)).toMatchObject([
    { ...work, status: "running", attempts: 0, task: { id: `${queue}.${uid}:2:0` } },
  ]);
  expect(await at(3)).toMatchObject([{ ...work, status: "cancelled" }]);
  expect(await at(3)).toHaveLength(1);
});
