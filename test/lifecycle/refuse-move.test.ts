import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { refuseMove } from "../../src/lifecycle/refuse-move.ts";
import { Life } from "../support/lives.ts";

const definition = {
  initial: "a",
  states: {
    a: { after: { "100": "b" }, on: { GO: "b", STAY: { actions: [] } } },
    b: { on: { BACK: "a" } },
  },
};

describe("a move that was refused", () => {
  test("is a record and a mark, and changes nothing else", () => {
    const life = new Life(definition);
    const { seq: _seq, at: _at, moves: _moves, ...before } = life.envelope;
    life.at += 50;
    expect(life.refuse(2, false, "'a': the new version has no such state.")).toBe(true);
    const { seq, at, moves, ...after } = life.envelope;
    expect(after).toEqual(before);
    const reason = "state_missing: 'a': the new version has no such state.";
    expect({ seq, at }).toEqual({ seq: 2, at: 1_050 });
    expect(moves).toEqual([
      {
        ruleId: "r_2",
        outcome: "unmappable",
        reason,
        state: expect.stringMatching(/^[0-9a-f]{16}$/),
        decidedAtSeq: 1,
        at: 1_050,
      },
    ]);
    const { entered: _entered, ...payload } = life.moveTo(2, { decidedAtSeq: 1 });
    expect(life.last).toMatchObject({
      kind: "migrated",
      type: null,
      handled: null,
      stateValue: "a",
      decisions: null,
      error: { code: "unmappable", message: reason },
      result: { outcome: "unmappable" },
    });
    expect(life.last.payload).toEqual(payload);
    life.pass(50);
    expect(life.envelope.machine.value).toBe("b");
    life.checkReplay();
  });

  test("is recorded once per rule and state", () => {
    const life = new Life(definition);
    expect(life.refuse(2, false)).toBe(true);
    expect(life.refuse(2, false, "another sentence")).toBe(false);
    life.event("UNKNOWN");
    expect(life.refuse(2, false)).toBe(false);
    expect(life.refuse(3, false)).toBe(true);
    life.event("GO");
    expect(life.refuse(2, false)).toBe(true);
    life.event("BACK");
    expect(life.refuse(2, false)).toBe(true);
    expect(life.envelope.moves.map(({ ruleId }) => ruleId)).toEqual(["r_3", "r_2"]);
    life.checkReplay();
  });

  test("strands where the rule says so: timers stay and wait until it is moved on", () => {
    const life = new Life(definition);
    const { timers } = life.envelope;
    expect(life.refuse(2, true)).toBe(true);
    expect(life.refuse(2, true)).toBe(false);
    expect(life.envelope).toMatchObject({ status: "stranded", moves: [{ outcome: "stranded" }] });
    expect(life.envelope.timers).toEqual(timers);
    expect(life.last.result).toEqual({ outcome: "stranded" });
    life.at += 500;
    life.move(3, definition);
    expect(life.envelope).toMatchObject({
      status: "active",
      timers,
      moves: [{ ruleId: "r_3", outcome: "migrated" }],
    });
    life.pass(0);
    expect(life.envelope.machine.value).toBe("b");
    life.checkReplay();
  });

  test("leaves who is paused paused, and strands it when it is resumed", () => {
    const life = new Life(definition);
    life.give({ kind: "paused", reason: null });
    expect(life.refuse(2, true)).toBe(true);
    expect(life.envelope).toMatchObject({ status: "paused", moves: [{ outcome: "unmappable" }] });
    expect(life.refuse(2, true)).toBe(false);
    life.give({ kind: "resumed", reason: null });
    expect(life.refuse(2, true)).toBe(true);
    expect(life.envelope).toMatchObject({ status: "stranded", moves: [{ outcome: "stranded" }] });
    life.checkReplay();
  });

  test("has a reason that is cut where it becomes long, whatever stands there", () => {
    const life = new Life(definition);
    life.refuse(2, false, "😀".repeat(400));
    const [mark] = life.envelope.moves;
    expect(mark?.reason?.length).toBe(300);
    expect(mark?.reason?.isWellFormed()).toBe(true);
    expect(mark?.reason?.endsWith("…")).toBe(true);
    life.checkReplay();
  });

  test("is not recorded where no record fits any more", () => {
    const life = new Life(definition);
    const full = { ...life.actor, envelope: { ...life.envelope, seq: LIMITS.recordsPerActor } };
    const reason = { code: "state_missing", message: "a" };
    expect(refuseMove(full, life.moveTo(2), reason, true, 1_000)).toBeNull();
  });
});
