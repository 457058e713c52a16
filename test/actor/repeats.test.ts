import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { actorNow, expectReplays, records, sent, spawned } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Answer } from "../support/api.ts";
import { ruled, useRules, versions } from "../support/moves.ts";
import { callsOf } from "../support/registry.ts";

const machine = {
  initial: "a",
  states: { a: { on: { GO: "b" } }, b: { on: { BACK: "a", END: "c" } }, c: { type: "final" } },
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** From now on nobody of this isolate knows any rules, and none can be had. */
function rulesLost() {
  forgetRules(DEFAULT_TENANT);
  return vi.spyOn(RegistryObject.prototype, "rules").mockImplementation((async () => ({
    ok: false,
    failure: { code: "unavailable", detail: "The registry is down." },
  })) as never);
}

const act = (id: string, action: string, body: object, key: string) =>
  call("POST", `/v1/actors/${id}/${action}`, { body, key });

const batch = (id: string, types: string[], key: string) =>
  act(id, "events/batch", { events: types.map((type) => ({ type })) }, key);

describe("while migration rules cannot be had", () => {
  const calls: [string, (id: string, key: string) => Promise<Answer>][] = [
    ["an event", (id, key) => sent(id, "GO", undefined, { key })],
    [
      "an event with the actor in its answer",
      (id, key) => sent(id, "GO", undefined, { key, headers: { Prefer: "return=representation" } }),
    ],
    ["a batch", (id, key) => batch(id, ["GO", "BACK", "GO"], key)],
    ["a batch that ended the actor early", (id, key) => batch(id, ["GO", "END", "GO"], key)],
    ["a schedule", (id, key) => act(id, "schedule", { type: "GO", delayMs: 60_000 }, key)],
    ["a pause", (id, key) => act(id, "pause", {}, key)],
    ["a rescue", (id, key) => act(id, "rescue", { stateValue: "b", reason: "by hand" }, key)],
  ];

  test.each(calls)("%s that was answered is answered again, a new one is not", async (_, make) => {
    const id = await spawned(machine);
    const key = fresh("k");
    const first = await make(id, key);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    const asked: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const rules = rulesLost();
      rules.mockClear();
      const again = await make(id, key);
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers.get("Idempotent-Replayed")).toBe("true");
      asked.push(callsOf(rules));
    }
    // Other actors of the tenant may ask meanwhile.
    expect(Math.min(...asked)).toBe(0);
    expectProblem(await make(id, fresh("k")), 503, "unavailable");
  });

  test("a key that was taken for another request is still taken", async () => {
    const id = await spawned(machine);
    const key = fresh("k");
    await sent(id, "GO", undefined, { key });
    rulesLost();
    const reused = await sent(id, "BACK", undefined, { key });
    expectProblem(reused, 422, "idempotency_key_reused");
    expectProblem(await batch(id, ["BACK", "GO"], key), 422, "idempotency_key_reused");
  });

  test("a rescue to another definition is answered again without asking for it", async () => {
    const [v1, v2] = await versions(machine, machine);
    const id = await spawned(v1!);
    const key = fresh("k");
    const body = { definitionId: v2, reason: "by hand" };
    const first = await act(id, "rescue", body, key);
    rulesLost();
    const acquire = vi.spyOn(RegistryObject.prototype, "acquire");
    expect((await act(id, "rescue", body, key)).body).toEqual(first.body);
    expect(callsOf(acquire)).toBe(0);
  });
});

test("calls with one key that wait for rules together act once", async () => {
  const id = await spawned(machine);
  forgetRules(DEFAULT_TENANT);
  const key = fresh("k");
  const answers = await Promise.all([1, 2, 3, 4].map(() => sent(id, "GO", undefined, { key })));
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
  forgetRules(DEFAULT_TENANT);
  const more = fresh("k");
  const batches = await Promise.all([1, 2, 3].map(() => batch(id, ["BACK", "GO"], more)));
  for (const { body } of batches) expect(body).toEqual(batches[0]!.body);
  expect(await records(id)).toHaveLength(4);
});

describe("a batch whose event strands the actor", () => {
  const narrow = { initial: "a", states: { a: { on: { GO: "a" } }, c: {} } };

  test("is undone as a whole when there is more of it, and says which event could not follow", async () => {
    useRules();
    const [v1, v2] = await versions(machine, narrow);
    const id = await spawned(v1!);
    await ruled(v1!, v2!, { historyPath: ["GO"], onUnmappable: "strand" });
    const key = fresh("k");
    const refused = await batch(id, ["GO", "BACK"], key);
    expectProblem(refused, 409, "actor_not_active");
    expect(refused.body).toMatchObject({ index: 1, actorStatus: "stranded" });
    expect(await actorNow(id)).toMatchObject({ seq: 1, status: "active", stateValue: "a" });
    const alone = await batch(id, ["GO"], key);
    expect(alone.body).toMatchObject({ results: [{ status: "stranded", actorSeq: 3 }] });
    await expectReplays(id);
  });
});
