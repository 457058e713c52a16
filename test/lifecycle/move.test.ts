import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { moveBy } from "../../src/lifecycle/move.ts";
import { tagsOf } from "../../src/machine/view.ts";
import type { Move } from "../../src/migration/rule.ts";
import { Life } from "../support/lives.ts";

/** Every life ends with its replay: the same log on the same definitions gives the same snapshot. */
function same(life: Life): void {
  expect(canonicalJson(life.replayed().actor?.envelope as never)).toBe(
    canonicalJson(life.envelope as never),
  );
}

function refusal(life: Life, n: number, definition: JsonObject, more: Partial<Move> = {}): string {
  const moved = moveBy(life.actor, life.moveTo(n, more), life.version(n, definition), life.at);
  return moved.ok ? "moved" : moved.code;
}

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
      states: { a: {}, b: { tags: ["new"], on: { END: "a" }, entry: { type: "@xstate.log" } } },
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
    const { status, machine, timers, parked, refs } = before;
    expect(record).toMatchObject({
      kind: "migrated",
      type: null,
      handled: null,
      payload: life.log.at(-1)?.payload,
      stateValue: "b",
      fingerprint: before.history.fingerprint,
      emitted: [],
      error: null,
      result: {
        outcome: "migrated",
        kept: [],
        cancelled: [],
        started: [],
        dropped: [],
        before: {
          definitionId: "m-v1",
          definitionHash: "hash-v1",
          status,
          machine,
          timers,
          parked,
          refs,
          entered: { seq: 1, steps: 0 },
        },
        tags: ["new"],
        status: "active",
        definitionId: "m-v2",
      },
    });
    expect(record.payload).toEqual({ ...life.moveTo(2), from: "m-v1", decidedAtSeq: 2 });
    expect(life.event("END").handled).toBe(true);
    same(life);
  });

  test.each<[string, JsonObject, JsonObject, Partial<Move>]>([
    ["state_missing", { a: {} }, { b: {} }, {}],
    ["state_has_children", { a: {} }, { a: { initial: "x", states: { x: {} } } }, {}],
    ["state_final", { a: {} }, { a: { type: "final" } }, {}],
    ["context_failed", { a: {} }, { a: {} }, { contextMapping: { n: { "@expr": "context.m" } } }],
  ])("refuses with %s, and nothing changes", (code, states, others, more) => {
    const life = new Life({ initial: Object.keys(states)[0]!, states });
    const other = { initial: Object.keys(others)[0]!, states: others };
    expect(refusal(life, 2, other, more)).toBe(code);
  });
});
