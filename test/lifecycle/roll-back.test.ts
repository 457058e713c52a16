import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import type { Envelope, LogRecord } from "../../src/lifecycle/types.ts";
import { ADDRESS, Life } from "../support/lives.ts";

const one = {
  initial: "a",
  context: { n: 1 },
  states: { a: { after: { "100": "b", "200": "b" }, on: { GO: "b" } }, b: {} },
};
const two = {
  initial: "c",
  states: { c: { after: { "100": "d", "300": "d" }, on: { END: "d" } }, d: {} },
};
const mapping = { stateMapping: { a: "c" }, contextMapping: { n: 2 } };

/** What a rollback restores: all but what counts up. */
function restored(envelope: Envelope): JsonObject {
  const { seq: _s, at: _a, moves: _m, generations: _g, ...rest } = envelope;
  return rest as unknown as JsonObject;
}

function moved(): { life: Life; before: Envelope } {
  const life = new Life(one, { refs: { order: "o-1" } });
  life.at += 10;
  const before = life.envelope;
  life.move(2, two, mapping);
  return { life, before };
}

describe("a rollback", () => {
  test("puts back all that the move changed, and the rule does not move the actor again", () => {
    const { life, before } = moved();
    const { generations } = life.envelope;
    life.at += 10;
    expect(life.rollBack("a mistake")).toBeNull();
    expect(restored(life.envelope)).toEqual(restored(before));
    expect(life.envelope).toMatchObject({ seq: 3, at: 1_020, generations });
    expect(life.envelope.moves).toEqual([
      { ruleId: "r_2", outcome: "rolled_back", decidedAtSeq: 1, at: 1_020 },
    ]);
    expect(life.last).toMatchObject({
      kind: "rolled_back",
      stateValue: "a",
      payload: {
        undoes: 2,
        ruleId: "r_2",
        from: "m-v2",
        to: "m-v1",
        toHash: "hash-v1",
        reason: "a mistake",
      },
      result: { tags: [], status: "active", definitionId: "m-v1" },
    });
    expect(life.event("GO").handled).toBe(true);
    life.checkReplay();
  });

  test("works after what changed nothing: events that were not handled, moves that were refused", () => {
    const { life, before } = moved();
    life.event("UNKNOWN");
    life.refuse(3, true);
    expect(life.envelope.status).toBe("stranded");
    expect(life.rollBack()).toBeNull();
    expect(restored(life.envelope)).toEqual(restored(before));
    expect(life.envelope.moves.map(({ outcome }) => outcome)).toEqual(["rolled_back"]);
    life.checkReplay();
  });

  test("takes moves of a chain back one by one", () => {
    const { life, before } = moved();
    const between = life.envelope;
    life.move(3, { initial: "e", states: { e: {} } }, { stateMapping: { c: "e" } });
    expect(life.rollBack()).toBeNull();
    expect(restored(life.envelope)).toEqual(restored(between));
    life.event("UNKNOWN");
    expect(life.rollBack()).toBeNull();
    expect(restored(life.envelope)).toEqual(restored(before));
    expect(life.envelope.moves.map(({ ruleId, outcome }) => [ruleId, outcome])).toEqual([
      ["r_3", "rolled_back"],
      ["r_2", "rolled_back"],
    ]);
    expect(life.rollBack()).toMatch(/No rule has moved/);
    life.checkReplay();
  });

  test("is refused once the actor has lived on after another move was taken back", () => {
    const { life } = moved();
    life.move(3, { initial: "c", states: { c: {} } });
    expect(life.rollBack()).toBeNull();
    life.event("END");
    expect(life.rollBack()).toMatch(/record 5 is of kind 'event'/);
    life.checkReplay();
  });

  test("brings a stranded actor back to where it was stranded, and a paused one paused", () => {
    const life = new Life(one);
    life.refuse(4, true);
    life.move(2, two, mapping);
    expect(life.envelope.status).toBe("active");
    expect(life.rollBack()).toBeNull();
    expect(life.envelope.status).toBe("stranded");
    const other = new Life(one);
    other.give({ kind: "paused", reason: null });
    other.move(2, two, mapping);
    expect(other.rollBack()).toBeNull();
    expect(other.envelope.status).toBe("paused");
    life.checkReplay();
    other.checkReplay();
  });

  test("brings one back that the move finished", () => {
    const life = new Life(one);
    const before = life.envelope;
    const ending = { initial: "a", states: { a: { always: "z" }, z: { type: "final" } } };
    life.move(2, ending);
    expect(life.envelope.status).toBe("done");
    expect(life.rollBack()).toBeNull();
    expect(restored(life.envelope)).toEqual(restored(before));
    life.checkReplay();
  });

  test.each<[string, (life: Life) => void, RegExp]>([
    ["an event was handled", (life) => life.event("END"), /record 3 is of kind 'event'/],
    ["a timer fired", (life) => life.pass(100), /kind 'timer'/],
    ["it was paused", (life) => life.give({ kind: "paused", reason: null }), /kind 'paused'/],
    [
      "an event was scheduled",
      (life) =>
        life.give({ kind: "scheduled", type: "X", payload: null, dueAt: 9_000 } satisfies Input),
      /kind 'scheduled'/,
    ],
    ["it was taken back already", (life) => life.rollBack(), /No rule has moved/],
  ])("is refused when %s since", (_, live, why) => {
    const { life } = moved();
    live(life);
    expect(life.rollBack()).toMatch(why);
  });

  test("is refused where there was no move, and where the move emitted events", () => {
    expect(new Life(one).rollBack()).toMatch(/No rule has moved/);
    const life = new Life(one);
    life.refuse(2, false);
    expect(life.rollBack()).toMatch(/No rule has moved/);
    const emit = { type: "@xstate.emit", event: { type: "told" } };
    life.move(3, {
      initial: "a",
      states: { a: { always: { target: "b", actions: emit } }, b: {} },
    });
    expect(life.rollBack()).toMatch(/emitted events/);
  });

  test("replays from a checkpoint behind the move, with the move's record from the log", () => {
    const { life } = moved();
    life.event("UNKNOWN");
    const checkpoint = life.actor;
    life.rollBack();
    const asked: number[] = [];
    const replay = new Replay(ADDRESS, life.machineOf("hash-v1"), {
      from: checkpoint,
      machineOf: life.machineOf,
      recordAt: (seq) => {
        asked.push(seq);
        return life.log[seq - 1] as LogRecord;
      },
    });
    expect(replay.run(life.log.slice(3))).toBeNull();
    expect(asked).toEqual([2]);
    expect(replay.actor?.envelope).toEqual(life.envelope);
  });
});
