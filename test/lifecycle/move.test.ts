import { timerName } from "../../src/lifecycle/timers.ts";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { moveBy } from "../../src/lifecycle/move.ts";
import type { Envelope, Timer } from "../../src/lifecycle/types.ts";
import { tagsOf } from "../../src/machine/view.ts";
import type { Move } from "../../src/migration/rule.ts";
import { Life } from "../support/lives.ts";

/** `<id> <name> <due>` of each timer. */
function timers({ timers: armed }: Pick<Envelope, "timers">): string[] {
  return armed.map((timer: Timer) => {
    const name = timer.kind === "after" ? `${timer.state}:${timer.delay}` : timerName(timer);
    return `${timer.id} ${name} ${timer.dueAt}`;
  });
}

const assign = (context: JsonObject): JsonObject => ({ type: "@xstate.assign", context });

describe("a move", () => {
  test("is one record, and changes the version and nothing that it need not", () => {
    const life = new Life(
      { initial: "a", context: { n: 1 }, states: { a: { on: { GO: "b" } }, b: {} } },
      { refs: { order: "o-1" } },
    );
    life.event("GO");
    const before = life.envelope;
    life.at += 500;
    const record = life.move(2, {
      initial: "a",
      context: { n: 7, m: 8 },
      states: { a: {}, b: { tags: ["new"], on: { END: "a" }, entry: assign({ n: 9 }) } },
    });
    const { seq, at, definitionId, definitionHash, entered, moves, ...rest } = life.envelope;
    expect({ seq, at, definitionId, definitionHash }).toEqual({
      seq: 3,
      at: 1_500,
      definitionId: "m-v2",
      definitionHash: "hash-v2",
    });
    expect(entered).toEqual({ seq: 3, steps: 1 });
    expect(moves).toEqual([{ ruleId: "r_2", outcome: "migrated", decidedAtSeq: 2, at: 1_500 }]);
    expect({ ...before, ...rest }).toEqual(before);
    expect(tagsOf(life.actor.live)).toEqual(["new"]);
    const { status, machine, parked, refs } = before;
    const image = { definitionId: "m-v1", definitionHash: "hash-v1", status, machine, parked };
    expect(record).toMatchObject({
      kind: "migrated",
      type: null,
      handled: null,
      stateValue: "b",
      fingerprint: before.history.fingerprint,
      emitted: [],
      effects: [],
      error: null,
      result: {
        outcome: "migrated",
        kept: [],
        cancelled: [],
        started: [],
        dropped: [],
        before: { ...image, timers: [], refs, entered: { seq: 1, steps: 0 } },
        tags: ["new"],
        status: "active",
        definitionId: "m-v2",
      },
    });
    expect(record.payload).toEqual({
      ruleId: "r_2",
      from: "m-v1",
      to: "m-v2",
      toHash: "hash-v2",
      decidedAtSeq: 2,
      stateMapping: {},
      contextMapping: {},
      entered: {},
    });
    expect(life.event("END").handled).toBe(true);
    life.checkReplay();
  });

  test("keeps timers with their due times, cancels what is gone, starts what is new from when its state was entered", () => {
    const life = new Life({
      initial: "a",
      states: {
        a: {
          initial: "x",
          after: { "5000": "b", "9000": "b" },
          states: { x: { after: { "7000": "y" } }, y: {} },
        },
        b: {},
      },
    });
    life.at += 2_000;
    const x = { after: { "7000": "y", "1500": "y", "60000": "y" } };
    const record = life.move(
      2,
      {
        initial: "main",
        states: { main: { initial: "x", after: { "5000": "b" }, states: { x, y: {} } }, b: {} },
      },
      { stateMapping: { a: "main" }, entered: { "main.x": 1_000 } },
    );
    expect(timers(life.envelope)).toEqual([
      "t4 main.x:1500 2500",
      "t1 main:5000 6000",
      "t3 main.x:7000 8000",
      "t5 main.x:60000 61000",
    ]);
    expect(record.result).toMatchObject({
      kept: [
        { state: "main", delay: "5000", dueAt: 6_000 },
        { state: "main.x", delay: "7000", dueAt: 8_000 },
      ],
      cancelled: [{ state: "a", delay: "9000", dueAt: 10_000 }],
      started: [
        { state: "main.x", delay: "1500", dueAt: 2_500 },
        { state: "main.x", delay: "60000", dueAt: 61_000 },
      ],
    });
    // The one that is new was due before the move, and fires.
    life.pass(0);
    expect(life.last).toMatchObject({ kind: "timer", type: "@timer:main.x:1500", handled: true });
    expect(timers(life.envelope)).toEqual(["t1 main:5000 6000"]);
    life.checkReplay();
  });

  test("counts a timer of a state that stands for none from the move", () => {
    const life = new Life({ initial: "a", states: { a: {} } });
    life.at += 300;
    life.move(2, { initial: "a", states: { a: { after: { "100": "b" } }, b: {} } });
    expect(timers(life.envelope)).toEqual(["t1 a:100 1400"]);
    life.checkReplay();
  });

  test("does not start again what has fired where it stands", () => {
    const count = { actions: assign({ n: { "@expr": "context.n + 1" } }) };
    const definition = {
      initial: "a",
      context: { n: 0 },
      states: { a: { after: { "100": count } } },
    };
    const life = new Life(definition);
    life.pass(100);
    expect(life.envelope.timers).toEqual([]);
    const record = life.move(2, definition, { entered: { a: 1_000 } });
    expect(life.envelope.timers).toEqual([]);
    expect(record.result).toMatchObject({ kept: [], cancelled: [], started: [] });
    life.checkReplay();
  });

  test("keeps scheduled and raised events, and takes parked timers along under their new names", () => {
    const raise = { type: "@xstate.raise", event: { type: "LATER" }, delay: 50_000, id: "later" };
    const failing = { guard: { "@expr": "context.none > 1" }, target: "b" };
    const life = new Life({
      initial: "a",
      states: { a: { entry: raise, after: { "10": failing, "20": failing } }, b: {} },
    });
    life.give({ kind: "scheduled", type: "REMIND", payload: null, dueAt: 70_000 });
    life.pass(20);
    expect(life.envelope.parked).toHaveLength(2);
    const parkedBefore = life.envelope.parked;
    const record = life.move(
      2,
      {
        initial: "c",
        states: { c: { after: { "10": "d" }, on: { LATER: "d", REMIND: "d" } }, d: {} },
      },
      { stateMapping: { a: "c" } },
    );
    expect(timers(life.envelope)).toHaveLength(2);
    expect(life.envelope.timers.map(({ kind }) => kind)).toEqual(["raise", "schedule"]);
    const [first] = parkedBefore;
    expect(life.envelope.parked).toEqual([{ ...first, timer: { ...first?.timer, state: "c" } }]);
    expect(record.result).toMatchObject({
      kept: [{ state: "c", delay: "10", dueAt: 1_010 }],
      cancelled: [{ state: "a", delay: "20", dueAt: 1_020 }],
    });
    life.give({ kind: "retried", items: [first?.timer.id ?? ""] });
    life.pass(0);
    expect(life.envelope.machine.value).toBe("d");
    life.checkReplay();
  });

  test("takes remembered states along, and names those that do not fit", () => {
    const memory = (deep: boolean, keys: string[]): JsonObject => ({
      initial: keys[0]!,
      states: {
        ...Object.fromEntries(
          keys.map((key) => [key, { on: { NEXT: keys.at(-1)!, OUT: "#out" } }]),
        ),
        back: { type: "history", history: deep ? "deep" : "shallow" },
      },
    });
    const out = { id: "out", on: { P: "p.back", Q: "q.back", GO: "q" } };
    const life = new Life({
      initial: "p",
      states: { p: memory(false, ["one", "two"]), q: memory(true, ["x", "y"]), out },
    });
    for (const type of ["NEXT", "OUT", "GO", "NEXT", "OUT"]) life.event(type);
    expect(life.envelope.machine.history).toEqual({ "p.back": ["p.two"], "q.back": ["q.y"] });
    const record = life.move(
      2,
      {
        initial: "r",
        states: { r: memory(false, ["one", "zwei"]), q: memory(true, ["x"]), out: { id: "out" } },
      },
      { stateMapping: { p: "r", "p.two": "r.zwei" } },
    );
    expect(life.envelope.machine.history).toEqual({ "r.back": ["r.zwei"] });
    expect(record.result).toMatchObject({ dropped: ["q.back"] });
    life.checkReplay();
  });

  test("goes region by region", () => {
    const region = (...keys: string[]): JsonObject => ({
      initial: keys[0]!,
      states: Object.fromEntries(keys.map((key) => [key, { on: { [`TO_${key}`]: {} } }])),
    });
    const life = new Life({
      type: "parallel",
      states: { left: region("a", "b"), right: region("c", "d") },
    });
    const three = {
      type: "parallel",
      states: { left: region("b", "a"), right: region("c"), third: region("e", "f") },
    };
    expect(life.refusal(2, three)).toBe("region_missing");
    life.move(3, three, { stateMapping: { "left.a": ["left.a", "third.f"] } });
    expect(life.envelope.machine.value).toEqual({ left: "a", right: "c", third: "f" });
    life.move(
      4,
      { initial: "on", states: { on: region("z") } },
      {
        stateMapping: {
          left: "on.z",
          "left.a": "on.z",
          right: "on",
          "right.c": "on.z",
          third: "on",
          "third.f": "on.z",
        },
      },
    );
    expect(life.envelope.machine.value).toEqual({ on: "z" });
    life.checkReplay();
  });

  test("lays values over the context, all of which see the old one", () => {
    const life = new Life({
      initial: "a",
      context: { amount: 5, form: { name: "Alice", age: 1 }, kept: true },
      states: { a: {} },
    });
    life.move(
      2,
      { initial: "a", states: { a: {} } },
      {
        contextMapping: {
          amount: { "@expr": "context.amount * 100" },
          "form.amount": { "@expr": "context.amount" },
          "new.deep.id": { "@expr": "self.definitionId + ' ' + string(self.seq)" },
          "new.at": { "@expr": "now" },
        },
      },
    );
    expect(life.envelope.machine.context).toEqual({
      amount: 500,
      form: { name: "Alice", age: 1, amount: 5 },
      kept: true,
      new: { deep: { id: "m-v2 2" }, at: 1_000 },
    });
    const through = { contextMapping: { "kept.x": 1 } };
    expect(life.refusal(3, { initial: "a", states: { a: {} } }, through)).toBe("context_failed");
    life.checkReplay();
  });

  test("takes eventless transitions of the new version, whose actions run; entry and exit of what it lands on do not", () => {
    const life = new Life({ initial: "a", context: { n: 1, seen: [] }, states: { a: {} } });
    const see = (what: string): JsonObject =>
      assign({ seen: { "@expr": `context.seen + ['${what}']` } });
    const emit = { type: "@xstate.emit", event: { type: "told" } };
    const ref = { type: "@perdure.setRef", name: "order", value: "o-2" };
    const record = life.move(2, {
      initial: "a",
      states: {
        a: {
          entry: see("entry"),
          exit: see("exit"),
          after: { "500": "c" },
          always: {
            guard: { "@expr": "context.n == 1" },
            target: "b",
            actions: [see("always"), emit, ref],
          },
        },
        b: { entry: see("b"), after: { "100": "c" } },
        c: {},
      },
    });
    expect(life.envelope).toMatchObject({ machine: { value: "b" }, refs: { order: "o-2" } });
    // To leave a state runs its exit actions, by whatever way it is left.
    expect(life.envelope.machine.context["seen"]).toEqual(["exit", "always", "b"]);
    expect(timers(life.envelope)).toEqual(["t2 b:100 1100"]);
    expect(record.emitted).toEqual([{ type: "told" }]);
    expect(record.decisions?.transitions).toEqual([{ source: "a", on: "", targets: ["b"] }]);
    expect(record.result).toMatchObject({
      started: [{ state: "a", delay: "500" }],
      before: { refs: {} },
    });
    expect(life.envelope.history.length).toBe(0);
    life.checkReplay();
  });

  test("may finish the machine by that, with its output and without timers", () => {
    const life = new Life({ initial: "a", states: { a: { after: { "1000": "a" } } } });
    const output = { "@expr": "{'seq': self.seq}" };
    const record = life.move(2, {
      initial: "a",
      output,
      states: { a: { always: "z" }, z: { type: "final" } },
    });
    expect(life.envelope).toMatchObject({
      status: "done",
      timers: [],
      machine: { output: { seq: 2 } },
    });
    expect(record.result).toMatchObject({ status: "done", output: { seq: 2 } });
    life.checkReplay();
  });

  test("leaves a paused actor paused, its timers kept back, and finishes it all the same", () => {
    const life = new Life({ initial: "a", states: { a: {} } });
    life.give({ kind: "paused", reason: null });
    life.move(2, { initial: "a", states: { a: { after: { "1": "b" }, on: { GO: "b" } }, b: {} } });
    expect(life.envelope.status).toBe("paused");
    life.give({ kind: "resumed", reason: null });
    life.pass(1);
    expect(life.envelope).toMatchObject({ status: "active", machine: { value: "b" } });
    life.give({ kind: "paused", reason: null });
    life.move(3, { initial: "b", states: { b: { always: "z" }, z: { type: "final" } } });
    expect(life.envelope.status).toBe("done");
    life.checkReplay();
  });

  test("chains, each rule with a mark of its own", () => {
    const life = new Life({ initial: "a", states: { a: {} } });
    life.move(2, { initial: "b", states: { b: {} } }, { stateMapping: { a: "b" } });
    life.move(3, { initial: "c", states: { c: {} } }, { stateMapping: { b: "c" } });
    expect(life.envelope).toMatchObject({
      seq: 3,
      definitionId: "m-v3",
      entered: { seq: 3, steps: 0 },
      moves: [
        { ruleId: "r_2", outcome: "migrated", decidedAtSeq: 1 },
        { ruleId: "r_3", outcome: "migrated", decidedAtSeq: 2 },
      ],
    });
    life.checkReplay();
  });
});

describe("a move that cannot be", () => {
  const big = "x".repeat(LIMITS.contextBytes - 100);
  const raiseMany = { type: "@xstate.raise", event: { type: "X" }, delay: 1_000_000 };

  test.each<[string, string, JsonObject, JsonObject, Partial<Move>]>([
    ["a state that is gone", "state_missing", { a: {} }, { b: {} }, {}],
    [
      "a leaf that has states now",
      "state_has_children",
      { a: {} },
      { a: { initial: "x", states: { x: {} } } },
      {},
    ],
    ["a leaf that is final now", "state_final", { a: {} }, { a: { type: "final" } }, {}],
    [
      "two leaves that cannot both be",
      "states_clash",
      { a: {} },
      { a: {}, b: {} },
      { stateMapping: { a: ["a", "b"] } },
    ],
    [
      "a value that fails",
      "context_failed",
      { a: {} },
      { a: {} },
      { contextMapping: { n: { "@expr": "context.m" } } },
    ],
    [
      "a context too large",
      "limit_exceeded",
      { a: {} },
      { a: {} },
      { contextMapping: { n: big, m: big } },
    ],
    [
      "a transition that fails",
      "step_failed",
      { a: {} },
      { a: { always: { guard: { "@expr": "context.m" }, target: "a" } } },
      {},
    ],
    [
      "a machine that does not rest",
      "limit_exceeded",
      { a: {} },
      { a: { always: { target: "b" } }, b: { always: { target: "a" } } },
      {},
    ],
    [
      "too many timers",
      "limit_exceeded",
      { a: {} },
      {
        a: { always: { target: "b" } },
        b: { entry: Array.from({ length: LIMITS.timersPerActor + 1 }, () => raiseMany) },
      },
      {},
    ],
    ["a delay that fails", "step_failed", { a: {} }, { a: { after: { LONG: "a" } } }, {}],
  ])("because of %s: %s, and nothing changes", (_, code, states, others, more) => {
    const life = new Life({ initial: "a", states });
    const delays = { LONG: { "@expr": "context.none" } };
    const other = { initial: Object.keys(others)[0]!, delays, states: others };
    const before = canonicalJson(life.envelope as never);
    expect(life.refusal(2, other, more)).toBe(code);
    expect(canonicalJson(life.envelope as never)).toBe(before);
  });

  test("because of timers that it would start on top of those that there are", () => {
    const life = new Life({ initial: "a", states: { a: {} } });
    for (let n = 0; n < LIMITS.timersPerActor; n += 1) {
      life.give({ kind: "scheduled", type: "X", payload: null, dueAt: 1_000_000 });
    }
    expect(life.refusal(2, { initial: "a", states: { a: {} } })).toBe("moved");
    expect(life.refusal(3, { initial: "a", states: { a: { after: { "5": "a" } } } })).toBe(
      "limit_exceeded",
    );
  });

  test("because its record would not fit, or there is no room for another", () => {
    const life = new Life({ initial: "a", context: { big }, states: { a: {} } });
    const shown = { type: "@xstate.log", args: [{ "@expr": "context.big" }] };
    const always = { guard: { "@expr": "context.more == 1" }, target: "b", actions: shown };
    expect(
      life.refusal(
        2,
        { initial: "a", states: { a: { always }, b: {} } },
        { contextMapping: { more: 1 } },
      ),
    ).toBe("limit_exceeded");
    const full = { ...life.actor, envelope: { ...life.envelope, seq: LIMITS.recordsPerActor } };
    expect(
      moveBy(full, life.moveTo(3), life.version(3, { initial: "a", states: { a: {} } }), 1_000),
    ).toMatchObject({
      ok: false,
      code: "limit_exceeded",
      message: expect.stringContaining("recordsPerActor"),
    });
  });
});
