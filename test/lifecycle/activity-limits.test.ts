import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { Life } from "../support/lives.ts";

const exceeds = (limit: string): object => ({
  ok: false,
  fault: { code: "limit_exceeded", limit, message: expect.stringContaining(limit) },
});

/** Spawns an activity per event, under an id and with an input of the event's. */
const spawning = {
  initial: "a",
  states: {
    a: {
      on: {
        GO: {
          actions: {
            type: "@xstate.spawnChild",
            src: "http",
            id: { "@expr": "event.id" },
            input: { "@expr": "event.input" },
          },
        },
      },
    },
  },
};

const go = (id: string, input: string): Input => ({
  kind: "event",
  type: "GO",
  payload: { id, input },
});

const taken = (life: Life, input: Input) => advance(life.actor, input, life.at, NO_ORIGIN);

describe("an actor", () => {
  test("has as many activities as the limit says, and not one more until one ends", () => {
    const life = new Life(spawning);
    for (let n = 0; n < LIMITS.activitiesPerActor; n += 1) life.give(go(`a${n}`, ""));
    expect(taken(life, go("more", ""))).toMatchObject(exceeds("activitiesPerActor"));
    life.give({ kind: "activity_done", ref: "2:0", output: null, attempts: 1 });
    expect(life.envelope.activities).toHaveLength(LIMITS.activitiesPerActor - 1);
    expect(taken(life, go("more", ""))).toMatchObject({ ok: true });
  });

  test("has activities of as many bytes as the limit says, and not one more", () => {
    const life = new Life(spawning);
    const large = "x".repeat(90_000);
    life.give(go("a", large));
    life.give(go("b", large));
    const [one] = life.envelope.activities;
    const around = JSON.stringify([
      [...life.envelope.activities, { ...one, ref: "4:0", input: "" }],
      [],
    ]);
    const most = LIMITS.activitiesBytes - around.length;
    expect(most).toBeLessThan(LIMITS.activityInputBytes);
    expect(taken(life, go("c", "x".repeat(most)))).toMatchObject({ ok: true });
    expect(taken(life, go("c", "x".repeat(most + 1)))).toMatchObject(exceeds("activitiesBytes"));
  });

  test("whose activity is done while there is no room for what undoes it has to be looked at", () => {
    const input = { "@expr": "event.output" };
    const invoke: JsonObject = { id: "charge", src: "book", compensate: { src: "unbook", input } };
    const life = new Life({
      initial: "a",
      states: { a: { invoke, on: { AGAIN: "b" } }, b: { always: "a" } },
    });
    const output = "x".repeat(90_000);
    for (let n = 0; n < 3; n += 1) {
      const [activity] = life.envelope.activities;
      const done = {
        kind: "activity_done",
        ref: activity?.ref ?? "",
        output,
        attempts: 1,
      } as const;
      const { error } = life.give(done);
      expect(error).toEqual(n < 2 ? null : expect.objectContaining({ limit: "activitiesBytes" }));
      if (n < 2) life.event("AGAIN");
    }
    expect(life.envelope.undo).toHaveLength(2);
    expect(life.envelope.activities).toMatchObject([{ id: "charge", status: "parked" }]);
    life.checkReplay();
  });
});
