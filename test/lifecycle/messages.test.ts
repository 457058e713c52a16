import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { retriable } from "../../src/lifecycle/retry.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { Life } from "../support/lives.ts";

const tell = (more: object = {}) => ({
  type: "@xstate.sendTo",
  to: { "@expr": "event.to" },
  event: { type: "HELLO", n: { "@expr": "event.n" } },
  ...more,
});

function talking(): Life {
  return new Life({
    initial: "a",
    context: { heard: [] },
    states: {
      a: {
        on: {
          TELL: { actions: [tell(), tell()] },
          LATER: { actions: tell({ delay: 500, id: "later" }) },
          CANCEL: { actions: { type: "@xstate.cancel", id: "later" } },
          HELLO: {
            actions: {
              type: "@xstate.assign",
              context: { heard: { "@expr": "context.heard + [event.n]" } },
            },
          },
        },
      },
    },
  } as never);
}

const message = (life: Life, payload: object | null): LogRecord =>
  life.give({ kind: "message", type: "HELLO", payload: payload as never });

describe("a message to another actor", () => {
  test("is asked for by the record of its step, each under a ref of its own", () => {
    const life = talking();
    expect(life.event("TELL", { to: "b", n: 1 }).effects).toEqual([
      { kind: "send", ref: "2:0", to: "b", event: { type: "HELLO", n: 1 } },
      { kind: "send", ref: "2:1", to: "b", event: { type: "HELLO", n: 1 } },
    ]);
    life.checkReplay();
  });

  test("is sent at the limit of its bytes, and refused one past it", () => {
    const life = talking();
    const room = LIMITS.messageBytes - JSON.stringify({ type: "HELLO", n: "" }).length;
    const told = (length: number) => {
      const payload = { to: "b", n: "x".repeat(length) };
      return life.tryOn(life.actor, { kind: "event", type: "LATER", payload });
    };
    expect(told(room)).toMatchObject({ ok: true });
    expect(told(room + 1)).toMatchObject({ ok: false, fault: { limit: "messageBytes" } });
  });

  test("waits for its delay, and can be cancelled", () => {
    const life = talking();
    expect(life.event("LATER", { to: "b", n: 1 }).effects).toEqual([]);
    life.pass(500);
    expect(life.last).toMatchObject({
      kind: "timer",
      type: "HELLO",
      handled: null,
      effects: [{ kind: "send", ref: "3:0", to: "b" }],
    });
    // It is nothing that happened to this machine.
    expect(life.envelope.history.length).toBe(1);
    life.event("LATER", { to: "b", n: 1 });
    life.event("CANCEL");
    life.pass(1_000);
    expect(life.last.type).toBe("CANCEL");
    life.checkReplay();
  });

  test("that nobody takes stays to be seen, and is sent again by a retry under its key", () => {
    const life = talking();
    life.event("TELL", { to: "gone", n: 1 });
    const event = { type: "HELLO", n: 1 };
    const gone = { code: "actor_not_found", message: "There is no actor 'gone'." };
    const record = life.give({ kind: "undelivered", ref: "2:0", to: "gone", event, ...gone });
    expect(record).toMatchObject({ type: null, payload: { ref: "2:0", to: "gone", error: gone } });
    expect(actorView(life.actor, life.at)["needsAttention"]).toMatchObject([
      { reason: "undeliverable", item: "2:0", to: "gone", event: "HELLO" },
    ]);
    const again = life.give({ kind: "retried", items: retriable(life.envelope, "2:0") });
    expect(again.effects).toEqual([{ kind: "send", ref: "2:0", to: "gone", event }]);
    expect(life.envelope.undeliverable).toEqual([]);
    life.checkReplay();
  });

  test("is kept as long as there is room: the last ones, and the very last however long", () => {
    const life = talking();
    const lose = (n: number, text = "") => {
      const event = { type: "HELLO", text };
      const said = { code: "actor_not_found", message: "Gone." };
      life.give({ kind: "undelivered", ref: `2:${n}`, to: "b", event, ...said });
    };
    for (let n = 0; n <= LIMITS.undeliverableKept; n += 1) lose(n);
    expect(life.envelope.undeliverable).toHaveLength(LIMITS.undeliverableKept);
    expect(life.envelope.undeliverable[0]?.ref).toBe("2:1");
    lose(1_000, "x".repeat(LIMITS.undeliverableBytes));
    expect(life.envelope.undeliverable.map(({ ref }) => ref)).toEqual(["2:1000"]);
    life.checkReplay();
  });
});

describe("a message from another actor", () => {
  test("is an event of the machine and counts in its history", () => {
    const life = talking();
    expect(message(life, { n: 1 })).toMatchObject({
      kind: "message",
      type: "HELLO",
      payload: { n: 1 },
      handled: true,
    });
    expect(life.envelope.machine.context["heard"]).toEqual([1]);
    expect(life.envelope.history.length).toBe(1);
    life.checkReplay();
  });

  test("that makes a step fail is recorded and parked, since its sender does not wait", () => {
    const life = talking();
    expect(message(life, null)).toMatchObject({
      handled: false,
      error: { code: "expression_failed" },
    });
    expect(life.envelope.parked).toMatchObject([{ timer: { id: "t1", kind: "message" } }]);
    expect(life.envelope.history.length).toBe(0);
    life.give({ kind: "retried", items: ["t1"] });
    life.pass(0);
    expect(life.last).toMatchObject({ kind: "message", type: "HELLO", timer: { id: "t1" } });
    expect(life.envelope.parked).toHaveLength(1);
    life.checkReplay();
  });

  test("that fails and cannot be kept is refused: it stays with its sender", () => {
    const life = talking();
    const text = "x".repeat(300_000);
    message(life, { text });
    const again = { kind: "message", type: "HELLO", payload: { text } } as const;
    expect(life.tryOn(life.actor, again)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed" },
    });
    expect(life.envelope.parked).toHaveLength(1);
    life.checkReplay();
  });
});
