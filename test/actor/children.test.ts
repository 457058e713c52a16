import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  actorNow,
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { CHILD, QUICK_CHILD, actorWhen, derivedId, family, parentOf } from "../support/children.ts";
import { crash, entryOf } from "../support/reports.ts";
import { silence } from "../support/silence.ts";
import { until } from "../support/until.ts";

beforeEach(() => {
  silence();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const control = (id: string, action: string) =>
  call("POST", `/v1/actors/${id}/${action}`, { body: {} });

const exists = async (id: string): Promise<boolean> =>
  (await call("GET", `/v1/actors/${id}`)).status === 200;

async function waitingParent(input: object, more: object = {}) {
  const id = await spawned(await family(CHILD, input, more));
  await sent(id, "GO");
  const { uid } = await actorNow(id);
  return { id, uid, child: derivedId(uid, "2:0") };
}

describe("a child", () => {
  test("is an actor like any other, that knows its parent", async () => {
    const { id, child } = await waitingParent({ input: { given: 7 }, refs: { order: "o-7" } });
    await until(() => exists(child), Boolean);
    const actor = await actorNow(child);
    expect(actor).toMatchObject({ context: { given: 7 }, refs: { order: "o-7" } });
    const { uid, activities } = await actorNow(id);
    expect(actor.parent).toEqual({ id, uid, activity: `${uid}:2:0` });
    expect(activities).toMatchObject([
      { id: "family", status: "running", children: { total: 1, done: 0, failed: 0, ids: [child] } },
    ]);
    expect((await until(() => entryOf(child), Boolean))?.id).toBe(child);
    const [born] = await records(child);
    expect(born).toMatchObject({ kind: "spawned", by: `actor:${id}`, principal: null });
    expect(born.key).toBe(`${uid}:2:0`);
  });

  test("that is done gives its output to its parent, which is told once", async () => {
    const { id, child } = await waitingParent({ input: { given: 7 } });
    await until(() => exists(child), Boolean);
    await sent(child, "END", { said: "bye" });
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(parent.context.got).toEqual({ id: child, output: { given: 7, said: "bye" } });
    await evict(child);
    await actorNow(child);
    const told = (await records(id)).filter(({ kind }) => kind === "child_done");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ by: `actor:${child}`, handled: true });
    await expectReplays(id);
    await expectReplays(child);
  });

  test("is heard also where a caller has taken the key that its end will have", async () => {
    const { id, child } = await waitingParent({ input: { given: 7 } });
    await until(() => exists(child), Boolean);
    const { uid } = await actorNow(child);
    const key = `${uid}:2:0`;
    const taken = await call("POST", `/v1/actors/${id}/events`, { body: { type: "X" }, key });
    expect(taken.status).toBe(200);
    await sent(child, "END", { said: "bye" });
    const ended = (await records(child)).find(({ effects }) => effects?.length > 0);
    expect(ended.effects[0]).toMatchObject({ kind: "tell_parent", ref: "2:0" });
    await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    await expectReplays(id);
  });

  test("with a name and a context of its own has them", async () => {
    const name = fresh("child");
    const { id } = await waitingParent({ id: name, context: { said: "hello" } });
    await until(() => exists(name), Boolean);
    expect((await actorNow(name)).context.said).toBe("hello");
    await sent(name, "END");
    await actorWhen(id, ({ stateValue }) => stateValue === "joined");
  });

  test("may be of a family: its newest root", async () => {
    const definitionId = await deployed(QUICK_CHILD);
    const name = definitionId.replace(/-v1$/, "");
    const id = await spawned(parentOf({ definitionId: name, input: 1 }));
    await sent(id, "GO");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(parent.context.got.output).toBe(1);
  });

  test.each([
    ["terminated", (name: string) => control(name, "terminate")],
    ["deleted", (name: string) => call("DELETE", `/v1/actors/${name}`)],
  ])("that is %s fails its parent's activity", async (_, act) => {
    const name = fresh("child");
    const { id } = await waitingParent({ id: name });
    await until(() => exists(name), Boolean);
    await act(name);
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "failed");
    expect(parent.context.got).toMatchObject({
      code: "child_failed",
      body: { id: name, error: { code: "terminated" } },
    });
    await expectReplays(id);
  });

  test("that its parent leaves is terminated", async () => {
    const { id, child } = await waitingParent({});
    await until(() => exists(child), Boolean);
    await sent(id, "LEAVE");
    await actorWhen(child, ({ status }) => status === "terminated");
    // It says so, and its parent, which knows, has no record of that.
    await evict(child);
    expect((await records(id)).map(({ kind }) => kind)).toEqual(["spawned", "event", "event"]);
  });

  test.each(["END", "terminate", "delete"])(
    "is terminated when its parent ends: %s",
    async (end) => {
      const { id, child } = await waitingParent({});
      await until(() => exists(child), Boolean);
      if (end === "END") await sent(id, "END");
      else if (end === "delete") await call("DELETE", `/v1/actors/${id}`);
      else await control(id, end);
      await actorWhen(child, ({ status }) => status === "terminated");
    },
  );

  test("that is detached outlives its parent's state", async () => {
    const { id, child } = await waitingParent({ detach: true });
    await until(() => exists(child), Boolean);
    await sent(id, "LEAVE");
    await evict(id);
    await sent(child, "END");
    expect(await actorNow(child)).toMatchObject({ status: "done" });
    const late = await until(
      () => records(id),
      (log) => log.length === 4,
    );
    expect(late[3]).toMatchObject({ kind: "child_done", handled: false, reason: "late" });
  });

  test("that is left as it begins never lives on", async () => {
    const { id, child } = await waitingParent({});
    await sent(id, "LEAVE");
    await until(
      async () => (await actorNow(id)).seq,
      (seq) => seq === 3,
    );
    const after = await until(
      () => call("GET", `/v1/actors/${child}`),
      ({ status, body }) => status === 404 || body.status === "terminated",
    );
    expect(after.status === 404 || after.body.status === "terminated").toBe(true);
  });
});

describe("a child that cannot be spawned", () => {
  test.each([
    ["of an unknown definition", { definitionId: "nobody-v1" }, "definition_not_found"],
    ["with an id that makes no sense", { id: "x".repeat(199), forEach: [1] }, "invalid_request"],
  ])("%s has failed, and nothing is tried again", async (_, input, code) => {
    const id = await spawned(await family(CHILD, input));
    await sent(id, "GO");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "failed");
    expect(parent.context.got).toMatchObject({ code: "child_failed", body: { error: { code } } });
    expect(parent.needsAttention).toEqual([]);
  });

  test("since its id is taken has failed, and the actor that has it is left alone", async () => {
    const name = await spawned(CHILD);
    const { id } = await waitingParent({ id: name });
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "failed");
    expect(parent.context.got.body.error.code).toBe("actor_exists");
    await sent(id, "LEAVE");
    expect((await actorNow(name)).status).toBe("active");
  });

  test("by an input that makes no sense is the activity's error", async () => {
    const id = await spawned(parentOf({ definitionId: { "@expr": "'no id / at all'" } }));
    await sent(id, "GO");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "failed");
    expect(parent.context.got.code).toBe("invalid_input");
  });
});

describe("a definition that spawns itself as it begins", () => {
  test("comes to an end at the limit: who is at it is there, and has no child", async () => {
    const kind = { "@expr": "context.kind" };
    const endless = await deployed({
      initial: "spawning",
      context: { kind: { "@expr": "input.kind" }, error: null },
      states: {
        spawning: {
          invoke: {
            id: "next",
            src: "actor",
            input: { definitionId: kind, input: { kind } },
            onError: {
              target: "last",
              actions: {
                type: "@xstate.assign",
                context: { error: { "@expr": "event.error.body.error" } },
              },
            },
          },
        },
        last: {},
      },
    });
    let id = await spawned(endless, { input: { kind: endless } });
    for (let depth = 0; depth < LIMITS.childDepth; depth++) {
      const { uid } = await actorNow(id);
      id = derivedId(uid, "1:0");
      await until(() => exists(id), Boolean);
    }
    const last = await actorWhen(id, ({ stateValue }) => stateValue === "last");
    expect(last.context.error).toMatchObject({ code: "limit_exceeded" });
    expect(last.context.error.message).toContain(`${LIMITS.childDepth} parents`);
    expect(await exists(derivedId(last.uid, "1:0"))).toBe(false);
    await expectReplays(id);
  });
});

describe("children of a list", () => {
  test("are spawned each with its entry, and joined in order", async () => {
    const id = await spawned(
      await family(QUICK_CHILD, { forEach: { "@expr": "[1, 2, 3].map(n, {'n': n})" } }),
    );
    await sent(id, "GO");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    const ids = [0, 1, 2].map((index) => derivedId(parent.uid, "2:0", index));
    expect(parent.context.got).toEqual([
      { id: ids[0], output: { n: 1 } },
      { id: ids[1], output: { n: 2 } },
      { id: ids[2], output: { n: 3 } },
    ]);
    await expectReplays(id);
  });

  test("of no entry are joined at once", async () => {
    const id = await spawned(await family(QUICK_CHILD, { forEach: [] }));
    await sent(id, "GO");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(parent.context.got).toEqual([]);
  });

  test("end with the first that fails", async () => {
    const stem = fresh("child");
    const { id } = await waitingParent({ id: stem, forEach: [{ given: 1 }, { given: 2 }] });
    await until(() => exists(`${stem}.1`), Boolean);
    await control(`${stem}.1`, "terminate");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "failed");
    expect(parent.context.got.body.id).toBe(`${stem}.1`);
    await actorWhen(`${stem}.0`, ({ status }) => status === "terminated");
  });

  test("that are collected have their errors in their places", async () => {
    const stem = fresh("child");
    const { id } = await waitingParent({
      id: stem,
      forEach: [{ given: 1 }, { given: 2 }],
      failures: "collect",
    });
    await until(() => exists(`${stem}.1`), Boolean);
    await control(`${stem}.1`, "terminate");
    await sent(`${stem}.0`, "END");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(parent.context.got).toEqual([
      { id: `${stem}.0`, output: { given: 1, said: null } },
      { id: `${stem}.1`, error: expect.objectContaining({ code: "terminated" }) },
    ]);
  });

  test("are joined after the parent was paused all the while", async () => {
    const stem = fresh("child");
    const { id } = await waitingParent({ id: stem, forEach: [{}, {}] });
    await until(() => exists(`${stem}.1`), Boolean);
    await control(id, "pause");
    for (const index of [0, 1]) await sent(`${stem}.${index}`, "END");
    await Promise.all([0, 1].map((index) => actorWhen(`${stem}.${index}`, ({ done }) => done)));
    await evict(id);
    expect(await actorNow(id)).toMatchObject({ status: "paused", stateValue: "waiting" });
    await control(id, "resume");
    await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    const told = (await records(id)).filter(({ kind }) => kind === "child_done");
    expect(told).toHaveLength(2);
    await expectReplays(id);
  });
});

describe("an activity of children that failed and was told to nobody", () => {
  test("begins those anew that did not end well when it is retried", async () => {
    const stem = fresh("child");
    const { id } = await waitingParent(
      { id: stem, forEach: [{ given: 1 }, { given: 2 }], failures: "stop" },
      { onError: undefined },
    );
    await until(() => exists(`${stem}.1`), Boolean);
    await sent(`${stem}.0`, "END");
    await until(
      () => records(id),
      (log) => log.some(({ kind }) => kind === "child_done"),
    );
    await control(`${stem}.1`, "terminate");
    await actorWhen(id, ({ needsAttention }) => needsAttention.length > 0);
    expect((await control(id, "retry")).status).toBe(200);
    await until(() => exists(`${stem}.1.r1`), Boolean);
    await sent(`${stem}.1.r1`, "END");
    const parent = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(parent.context.got.map((one: { id: string }) => one.id)).toEqual([
      `${stem}.0`,
      `${stem}.1.r1`,
    ]);
    expect(await exists(`${stem}.0.r1`)).toBe(false);
    await expectReplays(id);
  });
});

describe("a crash", () => {
  test("before the children are spawned, and before the parent is told, loses neither", async () => {
    const { id, child } = await waitingParent({});
    await crash(id);
    await actorNow(id);
    await until(() => exists(child), Boolean);
    await sent(child, "END");
    await crash(child);
    await crash(id);
    await actorNow(child);
    await actorNow(id);
    await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect((await records(id)).filter(({ kind }) => kind === "child_done")).toHaveLength(1);
    expect(await records(child)).toHaveLength(2);
    expectProblem(await call("GET", `/v1/actors/${child}.r1`), 404, "actor_not_found");
  });
});
