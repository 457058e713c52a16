import type { Reply } from "../../src/base/reply.ts";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_TENANT, actorObjectName } from "../../src/base/ids.ts";
import { actorNow, evict, expectReplays, records, sent, spawned } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { changed, ruled, useRules, versions, visited } from "../support/moves.ts";

const machine = (more: object = {}) => ({
  initial: "a",
  context: { n: 0 },
  states: {
    a: {
      on: {
        GO: { target: "b" },
        STAY: { actions: { type: "@xstate.assign", context: { stayed: true } } },
      },
      after: { "3600000": { target: "b" } },
    },
    b: { on: { BACK: { target: "a" } } },
    end: { type: "final" },
    ...more,
  },
});

beforeEach(() => useRules());
afterEach(() => vi.restoreAllMocks());

const keyed = (key = fresh("k"), ifMatch: number | null = null) => ({
  key,
  request: key,
  ifMatch,
  by: null,
  principal: "dev",
});
const actor = (id: string) => env.ACTORS.getByName(actorObjectName(DEFAULT_TENANT, id));
const at = (id: string) => ({ tenant: DEFAULT_TENANT, id });
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
const bodyOf = (reply: Reply): any => {
  if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
  return reply.body;
};
const codeOf = (reply: Reply): string | null => (reply.ok ? null : reply.failure.code);

async function rolledBack(id: string, key = fresh("k"), ifMatch: number | null = null) {
  return await actor(id).rollback({ ...at(id), keyed: keyed(key, ifMatch), reason: "too early" });
}

async function rescued(id: string, parts: object, key = fresh("k")): Promise<Reply> {
  const command = { ...at(id), keyed: keyed(key), reason: "by hand", ...parts };
  return await actor(id).rescue(command);
}

async function decisionsOf(id: string): Promise<Body[]> {
  return bodyOf(await actor(id).decisions(at(id))).items;
}

describe("a rollback", () => {
  test("brings back what was, and the rule does not move the actor again", async () => {
    const [v1, v2] = await versions(machine(), machine());
    const id = await spawned(v1!);
    await sent(id, "STAY");
    const before = await actorNow(id);
    const rule = await ruled(v1!, v2!, { contextMapping: { n: 7 } });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    expect(await actorNow(id)).toMatchObject({ definitionId: v2, context: { n: 7 } });
    await sent(id, "UNKNOWN");

    const key = fresh("k");
    const reply = await rolledBack(id, key);
    expect(bodyOf(reply)).toMatchObject({ definitionId: v1, context: { n: 0 }, seq: 5 });
    expect(bodyOf(reply).timers).toEqual(before.timers);
    await sent(id, "STAY");
    await evict(id);
    expect(await rolledBack(id, key)).toEqual({ ...reply, replayed: true });
    expect(await visited(id, rule)).toEqual({ outcome: "rolled_back" });
    expect(await actorNow(id)).toMatchObject({ definitionId: v1 });
    await expectReplays(id);
  });

  test("is refused where there is nothing to undo, or the actor has lived on", async () => {
    const [v1, v2] = await versions(machine(), machine());
    const id = await spawned(v1!);
    expect(codeOf(await rolledBack(id))).toBe("rollback_refused");
    const rule = await ruled(v1!, v2!, {});
    await visited(id, rule);
    expect(codeOf(await rolledBack(id, fresh("k"), 1))).toBe("seq_mismatch");
    await sent(id, "GO");
    expect(codeOf(await rolledBack(id))).toBe("rollback_refused");
    expect((await records(id)).length).toBe(3);
  });

  test("leaves the actor to another rule, and its states as old as they were", async () => {
    const later = machine({ a: { on: {}, after: { "7200000": { target: "b" } } } });
    const [v1, v2, v3] = await versions(machine(), machine(), later);
    const id = await spawned(v1!);
    const born = (await records(id))[0]!.at;
    const rule = await ruled(v1!, v2!, {});
    await visited(id, rule);
    await ruled(v1!, v3!, {});
    const back = bodyOf(await rolledBack(id));
    expect(back).toMatchObject({ definitionId: v3, seq: 4 });
    expect(back.timers).toMatchObject([
      { event: "@timer:a:7200000", dueAt: new Date(Date.parse(born) + 7_200_000).toISOString() },
    ]);
    await expectReplays(id);
  });
});

describe("a rescue", () => {
  test("sets what is given, on the definition given, once per key", async () => {
    const [v1, v2] = await versions(machine(), machine());
    const id = await spawned(v1!);
    const key = fresh("k");
    const parts = { stateValue: "b", context: { n: 3 }, definitionId: v2 };
    const reply = await rescued(id, parts, key);
    expect(bodyOf(reply)).toMatchObject({
      definitionId: v2,
      stateValue: "b",
      context: { n: 3 },
      timers: [],
      seq: 2,
    });
    await sent(id, "BACK");
    expect(await rescued(id, parts, key)).toEqual({ ...reply, replayed: true });
    expect(await actorNow(id)).toMatchObject({ stateValue: "a", seq: 3 });
    await expectReplays(id);
  });

  test("brings back who was stranded, and rules are evaluated after it", async () => {
    const [v1, v2] = await versions(machine(), { initial: "b", states: { b: {}, c: {} } });
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { historyPath: ["STAY"], onUnmappable: "strand" });
    await sent(id, "STAY");
    expect(await actorNow(id)).toMatchObject({ status: "stranded", stateValue: "a" });
    expect(bodyOf(await rescued(id, { stateValue: "b" }))).toMatchObject({
      status: "active",
      stateValue: "b",
      definitionId: v2,
      seq: 5,
    });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    await expectReplays(id);
  });

  test("is refused where it does not fit, for a family, and of an actor that has ended", async () => {
    const [v1] = await versions(machine());
    const [other] = await versions(machine());
    const id = await spawned(v1!);
    const unfit = await rescued(id, { stateValue: "nowhere" });
    expect(unfit).toMatchObject({ failure: { code: "snapshot_invalid", errors: [{}] } });
    expect(codeOf(await rescued(id, { definitionId: "nobody-v1" }))).toBe("definition_not_found");
    expect(codeOf(await rescued(id, { definitionId: other }))).toBe("family_mismatch");
    const family = v1!.slice(0, -"-v1".length);
    expect(codeOf(await rescued(id, { definitionId: family }))).toBe("definition_not_found");
    expect((await records(id)).length).toBe(1);
    await call("POST", `/v1/actors/${id}/terminate`);
    expect(codeOf(await rescued(id, { stateValue: "b" }))).toBe("actor_not_active");
  });
});

describe("decisions", () => {
  test("say what each rule says of the history, also of who was never woken", async () => {
    const [v1, v2, v3] = await versions(machine(), machine(), machine());
    const id = await spawned(v1!);
    await sent(id, "STAY");
    const { historyFingerprint } = await actorNow(id);
    await sent(id, "GO");
    const pending = await ruled(v1!, v2!, { historyPath: ["STAY", "GO", "BACK"] });
    const diverged = await ruled(v1!, v2!, { historyPath: ["GO"] });
    const held = await ruled(v1!, v2!, { historyPath: ["STAY"], percent: 0 });
    const moves = await ruled(v1!, v3!, { historyPath: ["STAY"] });
    expect(await decisionsOf(id)).toMatchObject([
      { ruleId: pending, decision: "pending", outcome: "none", decidedAtSeq: null },
      {
        ruleId: diverged,
        decision: "diverged",
        outcome: "none",
        decidedAtSeq: 2,
        fingerprint: historyFingerprint,
      },
      { ruleId: held, decision: "match", outcome: "held", decidedAtSeq: 2 },
      { ruleId: moves, from: v1, to: v3, decision: "match", outcome: "none", decidedAtSeq: 2 },
    ]);
    expect((await records(id)).length).toBe(3);

    await sent(id, "BACK");
    // What comes after it left is nothing to a rule about where it was.
    await sent(id, "STAY");
    await changed(held, { state: "retired" });
    const items = await decisionsOf(id);
    expect(items.map(({ decision, outcome }) => [decision, outcome])).toEqual([
      ["pending", "none"],
      ["diverged", "none"],
      ["match", "none"],
      ["match", "migrated"],
    ]);
    const [migrated] = (await records(id)).filter(({ kind }) => kind === "migrated");
    expect(items[3]).toMatchObject({ decidedAtSeq: 2, at: migrated!.at });
  });

  test("say why an actor could not be moved", async () => {
    const [v1, v2] = await versions(machine(), { initial: "b", states: { b: {}, c: {} } });
    const id = await spawned(v1!);
    const rule = await ruled(v1!, v2!, { historyPath: ["STAY"] });
    await sent(id, "STAY");
    expect(await decisionsOf(id)).toMatchObject([
      { ruleId: rule, outcome: "unmappable", reason: expect.stringContaining("state_missing") },
    ]);
  });
});
