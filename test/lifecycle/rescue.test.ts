import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Rescue } from "../../src/lifecycle/input.ts";
import { rescue } from "../../src/lifecycle/rescue.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { Life } from "../support/lives.ts";

const definition = {
  initial: "a",
  context: { n: 1 },
  states: {
    a: { initial: "x", after: { "100": "b" }, states: { x: { after: { "50": "y" } }, y: {} } },
    b: { after: { "200": "a" }, on: { GO: "a" } },
    end: { type: "final" },
  },
};

function rescued(life: Life, given: Partial<Rescue>): LogRecord {
  return life.give({ kind: "rescued", to: null, reason: "by hand", ...given });
}

function problems(life: Life, given: Partial<Rescue>): JsonObject[] {
  const outcome = rescue(life.actor, { to: null, reason: "r", ...given }, life.at, NO_ORIGIN);
  return "problems" in outcome ? (outcome.problems as unknown as JsonObject[]) : [];
}

describe("a rescue", () => {
  test("sets what is given and leaves the rest", () => {
    const life = new Life(definition, { refs: { order: "o-1" } });
    life.at += 10;
    const before = life.envelope;
    const record = rescued(life, { stateValue: { a: "y" } });
    const { machine, timers, seq, at, ...rest } = life.envelope;
    expect({ ...before, ...rest }).toEqual(before);
    expect({ seq, at }).toEqual({ seq: 2, at: 1_010 });
    expect(machine).toEqual({ ...before.machine, value: { a: "y" } });
    expect(timers).toEqual(before.timers.filter(({ dueAt }) => dueAt === 1_100));
    expect(record).toMatchObject({
      kind: "rescued",
      type: null,
      handled: null,
      stateValue: { a: "y" },
      payload: { stateValue: { a: "y" }, reason: "by hand" },
      result: {
        kept: [{ state: "a", delay: "100", dueAt: 1_100 }],
        cancelled: [{ state: "a.x", delay: "50", dueAt: 1_050 }],
        started: [],
        dropped: [],
        status: "active",
        definitionId: "m-v1",
      },
    });
    rescued(life, { context: { other: true } });
    expect(life.envelope.machine).toEqual({ ...machine, context: { other: true } });
    rescued(life, { stateValue: "b" });
    expect(life.envelope.timers).toMatchObject([{ state: "b", delay: "200", dueAt: 1_210 }]);
    expect(life.event("GO").handled).toBe(true);
    life.checkReplay();
  });

  test("makes a stranded actor active, though the rule that stranded it is about it still", () => {
    const life = new Life(definition);
    life.refuse(2, true);
    rescued(life, { context: {} });
    expect(life.envelope).toMatchObject({ status: "active", moves: [{ outcome: "stranded" }] });
    expect(life.refuse(2, true)).toBe(false);
    life.pass(50);
    expect(life.envelope.machine.value).toEqual({ a: "y" });
    life.checkReplay();
  });

  test("leaves a paused actor paused", () => {
    const life = new Life(definition);
    life.give({ kind: "paused", reason: null });
    rescued(life, { stateValue: "b" });
    expect(life.envelope).toMatchObject({ status: "paused", machine: { value: "b" } });
    life.checkReplay();
  });

  test("may bring it to another definition, as a move would", () => {
    const life = new Life(definition);
    life.refuse(5, false);
    const machine = life.version(2, {
      initial: "c",
      states: { c: { after: { "10": "d" } }, d: {}, b: { after: { "200": "c", "5": "d" } } },
    });
    rescued(life, { stateValue: "b" });
    const to = { id: "m-v2", hash: "hash-v2", machine };
    life.at += 1;
    const record = rescued(life, { to });
    expect(life.envelope).toMatchObject({
      definitionId: "m-v2",
      definitionHash: "hash-v2",
      entered: { seq: 4, steps: 0 },
      moves: [],
      machine: { value: "b", context: { n: 1 } },
      timers: [
        { state: "b", delay: "5", dueAt: 1_006 },
        { state: "b", delay: "200", dueAt: 1_200 },
      ],
    });
    expect(record.payload).toEqual({ to: "m-v2", toHash: "hash-v2", reason: "by hand" });
    rescued(life, { to, stateValue: "d" });
    expect(life.last.payload).toEqual({ stateValue: "d", reason: "by hand" });
    expect(life.envelope.entered.seq).toBe(4);
    life.checkReplay();
  });

  test("takes eventless transitions that are enabled then, which may finish the machine", () => {
    const life = new Life({
      initial: "a",
      context: { ready: false },
      states: {
        a: { always: { guard: { "@expr": "context.ready" }, target: "z" } },
        z: { type: "final" },
      },
    });
    rescued(life, { context: { ready: true } });
    expect(life.envelope).toMatchObject({ status: "done", machine: { value: "z" } });
    life.checkReplay();
  });

  test("is refused with all that does not fit", () => {
    const life = new Life(definition);
    const machine = life.version(2, { initial: "q", states: { q: {} } });
    const to = { id: "m-v2", hash: "hash-v2", machine };
    expect(problems(life, { to })).toMatchObject([{ pointer: "/stateValue/a", code: "value" }]);
    expect(problems(life, { to, stateValue: "q" })).toEqual([]);
    expect(problems(life, { stateValue: "end" })).toMatchObject([{ pointer: "/stateValue" }]);
    expect(problems(life, { stateValue: { a: "z" } })).toMatchObject([
      { pointer: "/stateValue/a/z" },
    ]);
    expect(
      problems(life, { stateValue: ["a"] as never, context: [] as never }).map(
        ({ pointer }) => pointer,
      ),
    ).toEqual(["/context", "/stateValue"]);
    expect(
      problems(life, { stateValue: { __proto__: null, a: "x", b: {} } as never }),
    ).toMatchObject([{ pointer: "/stateValue", code: "value" }]);
  });

  test("is refused where a limit is exceeded or an expression fails", () => {
    const life = new Life(definition);
    const context = { big: "x".repeat(LIMITS.contextBytes) };
    const large = advance(
      life.actor,
      { kind: "rescued", context, to: null, reason: "r" },
      life.at,
      NO_ORIGIN,
    );
    expect(large).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", limit: "contextBytes" },
    });
    const always = { guard: { "@expr": "context.n > 0" }, target: "b" };
    const failing = new Life({ initial: "b", states: { a: { always }, b: {} } });
    expect(
      rescue(failing.actor, { stateValue: "a", to: null, reason: "r" }, 1_000, NO_ORIGIN),
    ).toMatchObject({ ok: false, fault: { code: "expression_failed" } });
  });

  test("drops remembered states that the other definition does not have", () => {
    const p = (last: string): JsonObject => ({
      initial: "one",
      states: {
        one: { on: { NEXT: last } },
        [last]: { on: { OUT: "#out" } },
        back: { type: "history" },
      },
    });
    const out = { id: "out", on: { BACK: "p.back" } };
    const life = new Life({ initial: "p", states: { p: p("two"), out } });
    life.event("NEXT");
    life.event("OUT");
    const machine = life.version(2, { initial: "p", states: { p: p("zwei"), out } });
    const record = rescued(life, { to: { id: "m-v2", hash: "hash-v2", machine } });
    expect(life.envelope.machine.history).toEqual({});
    expect(record.result).toMatchObject({ dropped: ["p.back"] });
    life.checkReplay();
  });
});
