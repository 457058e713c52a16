import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { retriable } from "../../src/lifecycle/retry.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { Life } from "../support/lives.ts";

const UID = "f".repeat(32);

function parent(input: JsonObject, invoke: JsonObject = {}): Life {
  return new Life({
    initial: "working",
    context: { got: null },
    states: {
      working: {
        invoke: {
          id: "kids",
          src: "actor",
          input: { definitionId: "child-v1", ...input },
          onDone: {
            target: "done",
            actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
          },
          onError: {
            target: "failed",
            actions: { type: "@xstate.assign", context: { got: { "@expr": "event.error" } } },
          },
          ...invoke,
        },
        on: { LEAVE: "left", TELL: { actions: tell("kids") } },
      },
      done: {},
      failed: {},
      left: {},
    },
  });
}

const tell = (to: string) => ({ type: "@xstate.sendTo", to, event: { type: "HELLO" } });

function ended(life: Life, index: number, outcome: { output: JsonValue } | string): LogRecord {
  if (typeof outcome !== "string") {
    return life.give({ kind: "child_done", ref: "1:0", index, ...outcome });
  }
  const error = { code: outcome, message: "It failed.", attempts: 1 };
  return life.give({ kind: "child_failed", ref: "1:0", index, error });
}

const got = (life: Life) => life.envelope.machine.context["got"];
const living = (life: Life) =>
  life.envelope.activities[0]?.children?.filter(({ outcome }) => outcome === null).length;

describe("one child", () => {
  test("has an id of its parent's incarnation and ref, and gives its output", () => {
    const life = parent({});
    expect(life.envelope.activities[0]?.children).toEqual([{ id: `${UID}.1.0`, outcome: null }]);
    const record = ended(life, 0, { output: 7 });
    expect(record).toMatchObject({ kind: "child_done", type: "@done:kids", handled: true });
    expect(got(life)).toEqual({ id: `${UID}.1.0`, output: 7 });
    expect(ended(life, 0, { output: 7 })).toMatchObject({ handled: false, reason: "late" });
    life.checkReplay();
  });

  test("that does not end well is the error of its activity", () => {
    const life = parent({ id: "kid-1" });
    const record = ended(life, 0, "terminated");
    expect(record).toMatchObject({ kind: "child_failed", type: "@error:kids", handled: true });
    expect(got(life)).toMatchObject({
      code: "child_failed",
      body: { id: "kid-1", error: { code: "terminated" } },
    });
    life.checkReplay();
  });

  test("goes when its state is left, unless it is detached", () => {
    const life = parent({ id: "kid-1" });
    expect(life.event("LEAVE").effects).toEqual([
      {
        kind: "cancel",
        ref: "1:0",
        id: "kids",
        src: "actor",
        children: [{ index: 0, id: "kid-1" }],
        listed: false,
      },
    ]);
    life.checkReplay();
    const detached = parent({ detach: true });
    expect(detached.event("LEAVE").effects).toEqual([]);
    expect(detached.envelope.ended).toMatchObject([{ status: "cancelled" }]);
    expect(ended(detached, 0, { output: 1 })).toMatchObject({ reason: "late" });
    detached.checkReplay();
  });

  test("is sent what its parent sends to the invoke", () => {
    const life = parent({ id: "kid-1" });
    expect(life.event("TELL").effects).toEqual([
      { kind: "send", ref: "2:0", to: "kid-1", event: { type: "HELLO" } },
    ]);
    life.checkReplay();
  });
});

describe("a list of children", () => {
  const three = { id: "kid", forEach: [1, 2, 3] };

  test("gives a list in its own order, whoever ends first", () => {
    const life = parent(three);
    expect(ended(life, 2, { output: "c" })).toMatchObject({ type: null, handled: null });
    ended(life, 0, { output: "a" });
    expect(life.envelope.machine.value).toBe("working");
    expect(actorView(life.actor, life.at)["activities"]).toMatchObject([
      { children: { total: 3, done: 2, failed: 0, ids: ["kid.0", "kid.1", "kid.2"] } },
    ]);
    ended(life, 1, { output: "b" });
    expect(got(life)).toEqual([
      { id: "kid.0", output: "a" },
      { id: "kid.1", output: "b" },
      { id: "kid.2", output: "c" },
    ]);
    life.checkReplay();
  });

  test("ends with the first that fails; the others are let go", () => {
    const life = parent(three);
    ended(life, 2, { output: "c" });
    const record = ended(life, 0, "failed");
    expect(record.effects).toMatchObject([
      { kind: "cancel", ref: "1:0", children: [{ index: 1, id: "kid.1" }], listed: true },
    ]);
    expect(life.envelope.machine.value).toBe("failed");
    expect(ended(life, 1, "terminated")).toMatchObject({ reason: "late" });
    life.checkReplay();
  });

  test("that collects failures waits for all of them", () => {
    const life = parent({ ...three, failures: "collect" });
    ended(life, 0, "failed");
    ended(life, 1, { output: "b" });
    expect(living(life)).toBe(1);
    ended(life, 2, "terminated");
    expect(got(life)).toMatchObject([
      { id: "kid.0", error: { code: "failed" } },
      { id: "kid.1", output: "b" },
      { id: "kid.2", error: { code: "terminated" } },
    ]);
    life.checkReplay();
  });

  test("hears each of them what is sent to the invoke", () => {
    const life = parent(three);
    expect(life.event("TELL").effects).toMatchObject([
      { ref: "2:0", to: "kid.0" },
      { ref: "2:1", to: "kid.1" },
      { ref: "2:2", to: "kid.2" },
    ]);
  });

  test("that is empty is done at once, outside of the step that began it", () => {
    const life = parent({ forEach: [] });
    expect(life.last.effects).toEqual([]);
    expect(life.envelope.machine.value).toBe("working");
    life.pass(0);
    expect(life.last).toMatchObject({ kind: "activity_done", type: "@done:kids", handled: true });
    expect(got(life)).toEqual([]);
    life.checkReplay();
  });

  test("is asked again only for those that failed", () => {
    const life = parent(three, { onError: undefined as never });
    ended(life, 1, { output: "b" });
    ended(life, 0, "failed");
    expect(life.envelope.activities).toMatchObject([{ status: "failed" }]);
    const again = life.give({ kind: "retried", items: retriable(life.envelope, "kids") });
    expect(again.effects).toMatchObject([{ kind: "start", ref: "1:0", round: 1 }]);
    expect(living(life)).toBe(2);
    ended(life, 0, { output: "a" });
    ended(life, 2, { output: "c" });
    expect(life.envelope.machine.value).toBe("done");
    life.checkReplay();
  });

  test("keeps what fits beside everything else: what is larger counts as a failure", () => {
    const many = { id: "kid", forEach: [1, 2], failures: "collect" };
    const measured = parent(many);
    ended(measured, 0, { output: "" });
    const { activities, undo } = measured.envelope;
    const room = LIMITS.activitiesBytes - JSON.stringify([activities, undo]).length;
    for (const [more, code] of [
      [0, undefined],
      [1, "too_large"],
    ] as const) {
      const life = parent(many);
      ended(life, 0, { output: "x".repeat(room + more) });
      const outcome = life.envelope.activities[0]?.children?.[0]?.outcome;
      expect((outcome as { error?: { code: string } }).error?.code).toBe(code);
      life.checkReplay();
    }
  });
});

describe("an actor that has a parent", () => {
  const born = { parent: { id: "p", uid: "a".repeat(32), ref: "3:0", index: 2 } };
  const child = {
    initial: "a",
    output: { n: 1 },
    states: {
      a: { on: { END: "end", HI: { actions: tell("#_parent") } } },
      end: { type: "final" },
    },
  };

  test("tells it how it ended, once", () => {
    const life = new Life(child, born);
    expect(life.envelope.parent).toEqual(born.parent);
    expect(actorView(life.actor, 0)["parent"]).toEqual({
      id: "p",
      uid: born.parent.uid,
      activity: `${born.parent.uid}:3:0`,
    });
    expect(life.event("HI").effects).toMatchObject([{ kind: "send", to: "p" }]);
    expect(life.event("END").effects).toEqual([
      { kind: "tell_parent", ref: "3:0", outcome: { output: { n: 1 } } },
    ]);
    life.checkReplay();
    const other = new Life(child, born);
    expect(other.give({ kind: "terminated", reason: null }).effects).toMatchObject([
      { kind: "tell_parent", outcome: { error: { code: "terminated" } } },
    ]);
    other.checkReplay();
  });

  test("tells it at its birth where that is its end", () => {
    const life = new Life({ initial: "a", states: { a: { type: "final" } } }, born);
    expect(life.log[0]?.effects).toMatchObject([
      { kind: "tell_parent", outcome: { output: null } },
    ]);
    life.checkReplay();
  });
});
