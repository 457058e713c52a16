import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { doneEvent, errorEvent } from "../../src/machine/activity-events.ts";
import { compensationOf } from "../../src/machine/compensation.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { contextOf } from "../../src/machine/live.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Step, StepOutcome } from "../../src/machine/step.ts";
import type { Command, EventData, StepScope } from "../../src/machine/types.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 7, now: 1_000 };

function taken(outcome: StepOutcome): Step {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome;
}

/** A machine as it is stepped through. */
class Walk {
  readonly machine: CompiledMachine;
  last: Step;

  constructor(definition: JsonObject) {
    this.machine = compileDefinition({ id: "m", initial: "a", context: { n: 1 }, ...definition });
    this.last = taken(start(this.machine, SCOPE, undefined, undefined));
  }

  try(event: EventData): StepOutcome {
    return step(this.machine, this.last.live, event, SCOPE);
  }

  take(event: EventData): Step {
    this.last = taken(this.try(event));
    return this.last;
  }
}

const said = (type: string): JsonObject => ({ type: "@xstate.emit", event: { type } });

/** Commands in few words. */
function briefly(commands: readonly Command[]): string[] {
  return commands.map((command) => {
    switch (command.kind) {
      case "emit":
        return command.event.type;
      case "start_activity":
        return `start ${command.id}`;
      case "stop_activity":
        return `stop ${command.id}`;
      default:
        return command.kind;
    }
  });
}

const url = "https://example.com/";
const http = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  src: "http",
  input: { url },
  ...more,
});

describe("an invoke", () => {
  const chart = {
    states: {
      a: { on: { GO: "b" }, exit: said("left a") },
      b: {
        entry: [said("entered b"), { type: "@xstate.assign", context: { n: 2 } }],
        exit: said("left b"),
        invoke: [
          http("one", { input: { url, body: { n: { "@expr": "context.n" } } } }),
          http("two", {
            onDone: { target: "c", context: { got: { "@expr": "event.output.id" } } },
            onError: { target: "a", context: { why: { "@expr": "event.error.code" } } },
          }),
        ],
        on: { STAY: { actions: said("stayed") }, AGAIN: { target: "b", reenter: true }, OUT: "a" },
      },
      c: {},
    },
  };

  test("starts after its state's entry actions, and stops after its exit actions", () => {
    const walk = new Walk(chart);
    expect(briefly(walk.take({ type: "GO" }).commands)).toEqual([
      "left a",
      "entered b",
      "start one",
      "start two",
    ]);
    expect(briefly(walk.take({ type: "OUT" }).commands)).toEqual([
      "left b",
      "stop one",
      "stop two",
    ]);
  });

  test("sees the context after the entry actions", () => {
    const [one] = new Walk(chart)
      .take({ type: "GO" })
      .commands.filter(({ kind }) => kind === "start_activity");
    expect(one).toEqual({
      kind: "start_activity",
      state: "b",
      id: "one",
      src: "http",
      input: { url, body: { n: 2 } },
    });
  });

  test("goes on through events that do not leave its state, and begins anew when that is entered again", () => {
    const walk = new Walk(chart);
    walk.take({ type: "GO" });
    expect(briefly(walk.take({ type: "STAY" }).commands)).toEqual(["stayed"]);
    expect(briefly(walk.take({ type: "AGAIN" }).commands)).toEqual([
      "left b",
      "stop one",
      "stop two",
      "entered b",
      "start one",
      "start two",
    ]);
  });

  test("that is done or fails takes its own transition, with its output or error as the event's", () => {
    const walk = new Walk(chart);
    walk.take({ type: "GO" });
    const failed = taken(
      walk.try(errorEvent("two", { code: "timeout", message: "", attempts: 5 })),
    );
    expect([failed.live.value, contextOf(failed.live)["why"]]).toEqual(["a", "timeout"]);
    expect(failed.decisions.transitions).toEqual([
      { source: "b", on: "@error:two", targets: ["a"] },
    ]);
    const done = walk.take(doneEvent("two", { id: "ch_1" }));
    expect([done.live.value, contextOf(done.live)["got"]]).toEqual(["c", "ch_1"]);
    expect(done.decisions.transitions).toEqual([{ source: "b", on: "@done:two", targets: ["c"] }]);
  });

  test("whose output nobody takes changes nothing", () => {
    const walk = new Walk(chart);
    walk.take({ type: "GO" });
    expect(walk.take(doneEvent("one", null))).toMatchObject({ handled: false, commands: [] });
  });

  test("of the root runs from the start", () => {
    const root = { invoke: http("root"), states: { a: {} } };
    expect(briefly(new Walk(root).last.commands)).toEqual(["start root"]);
  });

  test("whose input fails, fails the step", () => {
    const walk = new Walk({
      states: {
        a: { on: { GO: "b" } },
        b: { invoke: http("one", { input: { url: { "@expr": "context.nothing.at.all" } } }) },
      },
    });
    expect(walk.try({ type: "GO" })).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: "/states/b/invoke/input/url" },
    });
  });
});

describe("actions about others", () => {
  const acting = (actions: JsonValue, more: JsonObject = {}): StepOutcome =>
    new Walk({ states: { a: { on: { GO: { actions } } } }, ...more }).try({
      type: "GO",
      to: "actor-7",
    });
  const commands = (actions: JsonValue): readonly Command[] => taken(acting(actions)).commands;
  const event = { type: "PAID", n: { "@expr": "context.n + 1" } };

  test("send a message at once, or later", () => {
    const to = { "@expr": "event.to" };
    const sent = { kind: "send_to", event: { type: "PAID", n: 2 } };
    expect(
      commands([
        { type: "@xstate.sendTo", to: "#_parent", event },
        { type: "@xstate.sendTo", to, event, delay: 50, id: "later" },
        { type: "@xstate.sendTo", to, event, delay: { "@expr": "context.n * 10" } },
      ]),
    ).toEqual([
      { ...sent, to: "#_parent", delayMs: null, sendId: null },
      { ...sent, to: "actor-7", delayMs: 50, sendId: "later" },
      { ...sent, to: "actor-7", delayMs: 10, sendId: null },
    ]);
  });

  test("wait for a delay by its name", () => {
    const actions = { type: "@xstate.sendTo", to: "b", event, delay: "SOON" };
    expect(taken(acting(actions, { delays: { SOON: 5 } })).commands).toMatchObject([
      { delayMs: 5 },
    ]);
  });

  test("see the assigns before them", () => {
    const [, message] = [
      ...commands([
        { type: "@xstate.emit", event },
        { type: "@xstate.assign", context: { n: 10 } },
        { type: "@xstate.sendTo", to: "b", event },
      ]),
    ];
    expect(message).toMatchObject({ event: { type: "PAID", n: 11 } });
  });

  test("start an activity that no state holds, under their id or a new one", () => {
    const spawn = { type: "@xstate.spawnChild", src: "actor", input: { definitionId: "m" } };
    const started = {
      kind: "start_activity",
      state: null,
      src: "actor",
      input: { definitionId: "m" },
    };
    expect(
      commands([
        { ...spawn, id: "child" },
        { ...spawn, id: { "@expr": "'c' + string(context.n)" } },
        spawn,
        spawn,
        { type: "@xstate.stopChild", id: { "@expr": "'c' + string(context.n)" } },
      ]),
    ).toEqual([
      { ...started, id: "child" },
      { ...started, id: "c1" },
      { ...started, id: "spawned.7.0" },
      { ...started, id: "spawned.7.1" },
      { kind: "stop_activity", state: null, id: "c1" },
    ]);
  });

  test.each([
    [{ type: "@xstate.sendTo", to: { "@expr": "context.n" }, event }, "/to"],
    [{ type: "@xstate.sendTo", to: { "@expr": "''" }, event }, "/to"],
    [{ type: "@xstate.sendTo", to: "b", event, delay: { "@expr": "0.5" } }, "/delay"],
    [{ type: "@xstate.spawnChild", src: "actor", id: { "@expr": "context.n" } }, "/id"],
    [{ type: "@xstate.stopChild", id: { "@expr": "null" } }, "/id"],
  ])("%j fails the step", (action, pointer) => {
    expect(acting(action)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: `/states/a/on/GO/actions${pointer}` },
    });
  });
});

describe("what undoes an activity", () => {
  const walk = new Walk({
    states: {
      a: {
        invoke: [
          http("charge", {
            compensate: {
              src: "task",
              input: {
                queue: "refunds",
                input: { "@expr": "{'id': event.output.id, 'n': context.n}" },
              },
            },
            onDone: { target: "b", context: { n: 99 } },
          }),
          http("bare", { compensate: { src: "undo" } }),
          http("never"),
        ],
      },
      b: {},
    },
  });
  const undone = (id: string, output: JsonValue, state: string | null = "a") =>
    compensationOf(walk.machine, walk.last.live, { state, id }, doneEvent(id, output), SCOPE);

  test("sees the output, and the context before the transition", () => {
    expect(undone("charge", { id: "ch_1" })).toEqual({
      ok: true,
      compensation: { src: "task", input: { queue: "refunds", input: { id: "ch_1", n: 1 } } },
    });
  });

  test("has no input where none is written, and is nothing where nothing is", () => {
    expect(undone("bare", 1)).toEqual({ ok: true, compensation: { src: "undo", input: null } });
    expect(undone("never", 1)).toEqual({ ok: true, compensation: null });
    expect(undone("charge", 1, null)).toEqual({ ok: true, compensation: null });
    expect(undone("charge", 1, "gone")).toEqual({ ok: true, compensation: null });
  });

  test("that fails says where", () => {
    expect(undone("charge", null)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: "/states/a/invoke/0/compensate/input/input" },
    });
  });

  test("is kept up to the limit of an input, and refused one past it", () => {
    const id = (chars: number) => "x".repeat(chars);
    const around = JSON.stringify({ queue: "refunds", input: { id: "", n: 1 } }).length;
    const most = LIMITS.activityInputBytes - around;
    expect(undone("charge", { id: id(most) })).toMatchObject({ ok: true });
    expect(undone("charge", { id: id(most + 1) })).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", limit: "activityInputBytes" },
    });
  });
});

describe("limits of what a step asks for", () => {
  const exceeds = (limit: string): object => ({
    ok: false,
    fault: { code: "limit_exceeded", limit, message: expect.stringContaining(limit) },
  });
  const spawning = (count: number): Walk =>
    new Walk({
      states: {
        a: {
          on: {
            GO: {
              actions: Array.from({ length: count }, () => ({
                type: "@xstate.spawnChild",
                src: "http",
                input: { "@expr": "event.text" },
              })),
            },
          },
        },
      },
    });
  const go = (walk: Walk, chars: number): StepOutcome =>
    walk.try({ type: "GO", text: "x".repeat(chars) });
  const quotes = 2;

  test("one input", () => {
    const most = LIMITS.activityInputBytes - quotes;
    expect(go(spawning(1), most).ok).toBe(true);
    expect(go(spawning(1), most + 1)).toMatchObject(exceeds("activityInputBytes"));
  });

  test("all inputs of one step", () => {
    const around = "[,,,,]".length;
    const most = Math.floor((LIMITS.askedBytes - around) / 5) - quotes;
    expect(go(spawning(5), most).ok).toBe(true);
    expect(go(spawning(5), most + 1)).toMatchObject(exceeds("askedBytes"));
  });

  test("messages of one step", () => {
    const sending = (count: number): StepOutcome =>
      new Walk({
        states: {
          a: {
            on: {
              GO: {
                actions: Array.from({ length: count }, () => ({
                  type: "@xstate.sendTo",
                  to: "b",
                  event: { type: "PING" },
                })),
              },
            },
          },
        },
      }).try({ type: "GO" });
    expect(sending(LIMITS.messagesPerStep).ok).toBe(true);
    expect(sending(LIMITS.messagesPerStep + 1)).toMatchObject(exceeds("messagesPerStep"));
  });
});
