import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { rescue } from "../../src/lifecycle/rescue.ts";
import type { Envelope } from "../../src/lifecycle/types.ts";
import { Life } from "../support/lives.ts";

const url = "https://example.com/";
const http = (id: string, input: JsonObject = {}): JsonObject => ({
  id,
  src: "http",
  input: { url, ...input },
});
const waiting = (invoke: unknown, more: JsonObject = {}): JsonObject => ({
  initial: "a",
  context: { n: 1 },
  states: { a: { invoke, on: { GO: "b" } } as JsonObject, b: {} },
  ...more,
});

const shown = ({ activities }: Pick<Envelope, "activities">): string[] =>
  activities.map(({ ref, id, state, status }) => `${ref} ${id}@${state} ${status}`);

describe("the activities of an actor that moves", () => {
  test("go on untouched under their old key, in the state that has them now", () => {
    const life = new Life(waiting(http("call", { deadlineMs: 5_000, body: 1, method: "POST" })));
    const [before] = life.envelope.activities;
    life.at += 1_000;
    const { effects, result } = life.move(
      2,
      {
        initial: "z",
        states: {
          z: { invoke: { ...http("call", { body: 2, method: "POST" }), onDone: "end" } },
          end: { type: "final" },
        },
      },
      { stateMapping: { a: "z" } },
    );
    expect(life.envelope.activities).toEqual([{ ...before, state: "z" }]);
    expect(life.envelope.timers).toMatchObject([
      { kind: "activity", activity: "1:0", dueAt: 6_000 },
    ]);
    expect(effects).toEqual([]);
    expect(result).toMatchObject({
      activities: { kept: [{ state: "z", id: "call", src: "http" }], cancelled: [], started: [] },
    });
    life.give({ kind: "activity_done", ref: "1:0", output: null, attempts: 3 });
    expect(life.envelope.status).toBe("done");
    life.checkReplay();
  });

  test("are cancelled where the new version has none, with what was due of them", () => {
    const life = new Life(waiting([http("call", { deadlineMs: 5_000 }), http("stays")]));
    const { effects, result } = life.move(2, waiting(http("stays")));
    expect(shown(life.envelope)).toEqual(["1:1 stays@a running"]);
    expect(life.envelope.timers).toEqual([]);
    expect(life.envelope.ended).toMatchObject([{ ref: "1:0", status: "cancelled", seq: 2 }]);
    expect(effects).toEqual([{ kind: "cancel", ref: "1:0", id: "call", src: "http" }]);
    expect(result).toMatchObject({ activities: { cancelled: [{ state: "a", id: "call" }] } });
    const late = life.give({ kind: "activity_done", ref: "1:0", output: 1, attempts: 1 });
    expect(late).toMatchObject({ handled: false, reason: "late" });
    life.checkReplay();
  });

  test("begin where only the new version has them, with the new context and a key of their own", () => {
    const life = new Life(waiting(http("old")));
    const body = { n: { "@expr": "context.n" }, m: { "@expr": "context.m" } };
    const young = waiting([http("old"), http("new", { method: "POST", body })]);
    const { effects } = life.move(2, young, {
      contextMapping: { m: { "@expr": "context.n + 1" } },
    });
    expect(shown(life.envelope)).toEqual(["1:0 old@a running", "2:0 new@a running"]);
    const input = { url, method: "POST", body: { n: 1, m: 2 } };
    expect(effects).toEqual([{ kind: "start", ref: "2:0", id: "new", src: "http", input }]);
    life.checkReplay();
  });

  test("that have ended are not begun again", () => {
    const life = new Life(waiting(http("call")));
    life.give({ kind: "activity_done", ref: "1:0", output: 1, attempts: 1 });
    const { effects, result } = life.move(2, waiting(http("call")));
    expect(life.envelope.activities).toEqual([]);
    expect(effects).toEqual([]);
    expect(result).not.toHaveProperty("activities");
  });

  test("that have failed wait for somebody in the new version too, and run again under their key", () => {
    const life = new Life(waiting(http("call")));
    const error = { code: "timeout", message: "It took too long.", attempts: 5 };
    life.give({ kind: "activity_failed", ref: "1:0", error });
    life.move(2, waiting(http("call")));
    expect(life.envelope.activities).toMatchObject([{ ref: "1:0", status: "failed", error }]);
    life.checkReplay();
  });

  test("that have failed go to the new version's onError once a retry has failed too", () => {
    const life = new Life(waiting(http("call")));
    life.fail("call");
    life.move(2, waiting({ ...http("call"), onError: "b" }));
    expect(life.envelope.machine.value).toBe("a");
    life.give({ kind: "retried", items: ["1:0"] });
    life.fail("call");
    expect(life.last).toMatchObject({ type: "@error:call", handled: true, stateValue: "b" });
    life.checkReplay();
  });

  test("that no state holds stay, and so does what undoes those that are done", () => {
    const invoke = { ...http("charge"), compensate: { src: "http", input: { url } } };
    const spawn = { type: "@xstate.spawnChild", src: "task", id: "side", input: { queue: "q" } };
    const life = new Life({ initial: "a", states: { a: { entry: spawn, invoke } } });
    const ref = life.envelope.activities.find(({ id }) => id === "charge")?.ref ?? "";
    life.give({ kind: "activity_done", ref, output: 1, attempts: 1 });
    const { undo, activities } = life.envelope;
    life.move(2, { initial: "b", states: { b: {} } }, { stateMapping: { a: "b" } });
    expect(life.envelope).toMatchObject({ undo, activities });
    expect(undo).toHaveLength(1);
    life.checkReplay();
  });

  test("that an eventless transition leaves at once have reached nobody", () => {
    const life = new Life(waiting(http("old")));
    const { effects } = life.move(2, {
      initial: "a",
      states: { a: { invoke: http("new"), always: "b" }, b: { invoke: http("next") } },
    });
    expect(shown(life.envelope)).toEqual(["2:1 next@b running"]);
    expect(
      effects.map(({ kind, id }: never | { kind: string; id?: string }) => `${kind} ${id}`),
    ).toEqual(["cancel old", "start next"]);
    life.checkReplay();
  });

  test("end with it where it is finished by the move", () => {
    const life = new Life(waiting(http("call")));
    life.move(2, {
      initial: "a",
      states: { a: { invoke: http("call"), always: "end" }, end: { type: "final" } },
    });
    expect(life.envelope).toMatchObject({
      status: "done",
      activities: [],
      ended: [{ ref: "1:0", status: "cancelled" }],
    });
    life.checkReplay();
  });

  test("whose input fails, or is too large, leave it where it is", () => {
    const life = new Life(waiting(http("old")));
    const failing = waiting(
      http("new", { body: { "@expr": "context.none.at.all" }, method: "POST" }),
    );
    expect(life.refusal(2, failing)).toBe("step_failed");
    const large = "x".repeat(LIMITS.activityInputBytes);
    expect(life.refusal(3, waiting(http("new", { body: large, method: "POST" })))).toBe(
      "limit_exceeded",
    );
    expect(shown(life.envelope)).toEqual(["1:0 old@a running"]);
  });
});

describe("a rollback of a move", () => {
  test("that carried its activities puts them back where they were", () => {
    const life = new Life(waiting(http("call")));
    const before = life.envelope.activities;
    life.move(
      2,
      { initial: "z", states: { z: { invoke: http("call") } } },
      { stateMapping: { a: "z" } },
    );
    expect(life.rollBack()).toBeNull();
    expect(life.envelope.activities).toEqual(before);
    life.checkReplay();
  });

  test.each<[string, JsonObject]>([
    ["started one", waiting([http("call"), http("more")])],
    ["cancelled one", waiting([])],
    ["cancelled one and started another", waiting(http("other"))],
  ])("that %s is refused", (_what, young) => {
    const life = new Life(waiting(http("call")));
    life.move(2, young);
    expect(life.rollBack()).toContain("activities");
  });

  test("is refused once a result has come", () => {
    const life = new Life(waiting(http("call")));
    life.move(2, waiting(http("call")));
    life.give({ kind: "activity_done", ref: "1:0", output: 1, attempts: 1 });
    expect(life.rollBack()).toContain("activity_done");
  });
});

test("a rescue carries, cancels and starts activities as a move does", () => {
  const life = new Life({
    initial: "a",
    states: {
      a: { invoke: http("call"), on: { GO: "b" } },
      b: { invoke: [http("call"), http("more")] },
      c: {},
    },
  });
  const to = (stateValue: string): void => {
    const given = { stateValue, to: null, reason: "by hand" };
    const rescued = rescue(life.actor, given, life.at, NO_ORIGIN);
    if ("problems" in rescued) throw new Error(JSON.stringify(rescued.problems));
    life.taken(rescued);
  };
  to("b");
  expect(shown(life.envelope)).toEqual(["1:0 call@b running", "2:0 more@b running"]);
  to("b");
  expect(life.last.effects).toEqual([]);
  to("c");
  expect(life.envelope.activities).toEqual([]);
  expect(life.last.effects.map(({ kind }) => kind)).toEqual(["cancel", "cancel"]);
  life.checkReplay();
});

test("a snapshot from elsewhere begins the activities of the states it stands in", () => {
  const definition = {
    initial: "a",
    states: {
      a: { on: { GO: "b" } },
      b: { invoke: http("call", { headers: { n: { "@expr": "string(context.n)" } } }) },
    },
  };
  const life = new Life(definition, { snapshot: { value: "b", context: { n: 7 } } });
  expect(life.last.effects).toEqual([
    { kind: "start", ref: "1:0", id: "call", src: "http", input: { url, headers: { n: "7" } } },
  ]);
  expect(shown(life.envelope)).toEqual(["1:0 call@b running"]);
  life.checkReplay();
});
