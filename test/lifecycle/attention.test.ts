import { describe, expect, test } from "vitest";
import {
  ATTENTION_WORDS,
  attentionItems,
  attentionReasons,
} from "../../src/lifecycle/attention.ts";
import { ATTENTION_REASONS } from "../../src/lifecycle/types.ts";
import type { Envelope, Timer } from "../../src/lifecycle/types.ts";
import { LIMITS } from "../../src/base/limits.ts";

const timer: Timer = {
  id: "t1",
  generation: 1,
  armedAt: 0,
  dueAt: 1_000,
  kind: "schedule",
  event: { type: "REMIND" },
};
const parked = {
  timer,
  seq: 3,
  at: 1_000,
  error: { code: "expression_failed", message: "No such field: x." },
} as const;

function envelope(more: object): Envelope {
  const machine = { value: "a", context: {}, status: "active" };
  const work = { activities: [], ended: [], undo: [], undeliverable: [] };
  const rest = { seq: 5, at: 2_000, timers: [], parked: [], moves: [], machine, ...work };
  return { status: "active", ...rest, ...more } as never;
}

describe("what needs attention", () => {
  test("has words for every reason there is", () => {
    expect(Object.keys(ATTENTION_WORDS).toSorted()).toEqual([...ATTENTION_REASONS].toSorted());
    for (const words of Object.values(ATTENTION_WORDS)) expect(words).toMatch(/^[A-Z].{20,}\.?$/s);
  });

  test("is nothing while all is well, and never a matter of time in the entry", () => {
    expect(attentionReasons(envelope({ timers: [timer] }))).toEqual([]);
    expect(attentionItems(envelope({}), 1e9)).toEqual([]);
  });

  test("names each reason once, sorted, and each thing in words", () => {
    const many = envelope({ status: "stranded", parked: [parked, parked] });
    expect(attentionReasons(many)).toEqual(["parked", "stranded"]);
    const items = attentionItems(many, 0);
    expect(items.map(({ reason }) => reason)).toEqual(["parked", "parked", "stranded"]);
    expect(items[0]).toMatchObject({ item: "t1", seq: 3, event: "REMIND" });
    expect(items[0]?.["message"]).toMatch(/'REMIND' failed: No such field: x\. .*retry/);
  });

  test("is work outside that failed for good, what could not be undone, and messages that nobody takes", () => {
    const error = { code: "http_status", message: "No.".repeat(400), attempts: 5 };
    const failed = { ref: "2:0", id: "charge", status: "failed", since: { seq: 4, at: 1_000 } };
    const undo = { ref: "3:0", id: "reserve", error };
    const event = { type: "HELLO" };
    const lost = { ref: "4:0", to: "b", event, at: 1_000, error: { code: "gone", message: "G." } };
    const ill = envelope({
      activities: [{ ...failed, error }],
      undo: [undo, { ...undo, ref: "3:1", error: null }],
      undeliverable: [lost],
    });
    expect(attentionReasons(ill)).toEqual(["activity_failed", "undeliverable"]);
    const items = attentionItems(ill, 0);
    expect(items).toMatchObject([
      { reason: "activity_failed", item: "2:0", activity: "charge", seq: 4 },
      { reason: "activity_failed", item: "3:0", activity: "reserve" },
      { reason: "undeliverable", item: "4:0", to: "b", event: "HELLO" },
    ]);
    expect(items[0]?.["message"]).toMatch(/'charge' failed \(http_status\): No\..*… .*retry/);
    expect(JSON.stringify(items).length).toBeLessThan(6 * LIMITS.textChars);
  });

  test("is the error that ended a machine, in its words", () => {
    const ended = (error: unknown): Envelope =>
      envelope({ status: "error", machine: { value: "a", context: {}, status: "error", error } });
    expect(attentionReasons(ended("out of paper"))).toEqual(["error"]);
    const said = (error: unknown): unknown => attentionItems(ended(error), 0)[0]?.["message"];
    expect(said({ message: "out of paper" })).toMatch(
      /ended with an error.*It says: out of paper$/,
    );
    expect(said("out of ink")).toMatch(/It says: "out of ink"$/);
    expect(said({ code: 7 })).toMatch(/It says: {"code":7}$/);
    expect(said(null)).toBe(ATTENTION_WORDS.error);
    expect(String(said("x".repeat(10_000))).length).toBeLessThan(LIMITS.textChars + 200);
  });

  test("is a rule that cannot move the actor, as long as it lives there", () => {
    const mark = { ruleId: "r_1", outcome: "unmappable", decidedAtSeq: 4, at: 1_500 };
    const moves = [
      { ...mark, reason: "state_missing: no such state." },
      { ...mark, ruleId: "r_2", outcome: "rolled_back" },
    ];
    for (const status of ["active", "paused"]) {
      const stuck = envelope({ status, moves });
      expect(attentionReasons(stuck)).toEqual(["unmappable"]);
      const items = attentionItems(stuck, 0);
      expect(items).toHaveLength(1);
      expect(items[0]).toMatchObject({ reason: "unmappable", item: "r_1", seq: 4 });
      expect(items[0]?.["message"]).toMatch(
        /'r_1' cannot move it: state_missing: no such state\. /,
      );
    }
    expect(attentionReasons(envelope({ status: "done", moves }))).toEqual([]);
  });

  test("is a rule that stranded the actor, with why", () => {
    const reason = "region_missing: no such region.";
    const mark = { ruleId: "r_1", outcome: "stranded", reason, decidedAtSeq: 4, at: 1_500 };
    const [item, ...others] = attentionItems(envelope({ status: "stranded", moves: [mark] }), 0);
    expect(others).toEqual([]);
    expect(item).toMatchObject({ reason: "stranded", item: "r_1", seq: 4 });
    expect(item?.["message"]).toMatch(/'r_1' cannot move it: region_missing: no such region\. /);
  });

  test("is a timer that is due for longer than a minute, with its time", () => {
    const [item] = attentionItems(envelope({ timers: [timer] }), 1_001 + LIMITS.overdueMs);
    expect(item).toMatchObject({ reason: "timer_overdue", item: "t1", event: "REMIND" });
    expect(item?.["message"]).toMatch(/'REMIND' was due at 1970-01-01T00:00:01/);
    expect(attentionItems(envelope({ timers: [timer] }), 1_000 + LIMITS.overdueMs)).toEqual([]);
  });
});
