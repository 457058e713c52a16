import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasMoved, winnerAt } from "../../src/migration/evaluate.ts";
import type { Decided } from "../../src/migration/evaluate.ts";
import { isTaken } from "../../src/migration/rule.ts";
import type { Rule, RuleMark } from "../../src/migration/rule.ts";

const EVERYWHERE = Number.POSITIVE_INFINITY;
const uid = "0123456789abcdef0123456789abcdef";

function rule(id: string, more: Partial<Rule> = {}): { rule: Rule } {
  const ramp = more.ramp ?? [{ epoch: 1, percent: 100, inForceAt: 0 }];
  return {
    rule: {
      id,
      from: "v1",
      to: "v2",
      toHash: "",
      historyPath: [],
      match: "all",
      since: "birth",
      onUnmappable: "stay",
      stateMapping: {},
      contextMapping: {},
      position: 1,
      percent: ramp.at(-1)?.percent ?? 100,
      state: "active",
      inForceAt: 0,
      ...more,
      ramp,
    },
  };
}

const matches = (): Decided => ({ decision: "match", atSeq: 7 });

function won(
  candidates: { rule: Rule }[],
  more: { marks?: RuleMark[]; until?: number; decide?: (of: { rule: Rule }) => Decided } = {},
): string | null {
  const point = { candidates, uid, marks: [], until: EVERYWHERE, decide: matches, ...more };
  return winnerAt(point)?.candidate.rule.id ?? null;
}

const markOf = (ruleId: string, outcome: RuleMark["outcome"]): RuleMark => ({
  ruleId,
  outcome,
  decidedAtSeq: 1,
  at: 0,
});

describe("the winner at a point", () => {
  test("is the rule that has taken the actor for longest, then the one deployed first", () => {
    const resumed = rule("a", { position: 1, ramp: [{ epoch: 5, percent: 100, inForceAt: 0 }] });
    const older = rule("b", { position: 2, ramp: [{ epoch: 2, percent: 100, inForceAt: 0 }] });
    const same = rule("c", { position: 3, ramp: [{ epoch: 2, percent: 100, inForceAt: 0 }] });
    expect(won([resumed, same, older])).toBe("b");
    expect(won([same, resumed])).toBe("c");
    expect(won([])).toBeNull();
  });

  test("says after which record it matched", () => {
    const point = { candidates: [rule("a")], uid, marks: [], until: EVERYWHERE, decide: matches };
    expect(winnerAt(point)).toMatchObject({ decidedAtSeq: 7 });
  });

  test("is active, takes this actor, matches, and has not moved it", () => {
    expect(won([rule("a", { state: "paused", ramp: [] })])).toBeNull();
    expect(won([rule("a", { state: "retired", ramp: [] })])).toBeNull();
    expect(won([rule("a", { ramp: [{ epoch: 1, percent: 0, inForceAt: 0 }] })])).toBeNull();
    for (const decision of ["pending", "diverged"] as const) {
      expect(won([rule("a")], { decide: () => ({ decision, atSeq: 1 }) })).toBeNull();
    }
    for (const outcome of ["migrated", "rolled_back"] as const) {
      expect(won([rule("a")], { marks: [markOf("a", outcome)] })).toBeNull();
      expect(hasMoved([markOf("a", outcome)], "a")).toBe(true);
    }
    // Where it failed it is tried again.
    for (const outcome of ["unmappable", "stranded"] as const) {
      expect(won([rule("a")], { marks: [markOf("a", outcome)] })).toBe("a");
      expect(hasMoved([markOf("a", outcome)], "a")).toBe(false);
    }
  });

  test("came into force by the bound, by the step of its ramp that takes the actor", () => {
    const steps = [
      { epoch: 3, percent: 0, inForceAt: 100 },
      { epoch: 4, percent: 100, inForceAt: 200 },
    ];
    const ramp = rule("a", { inForceAt: 200, ramp: steps });
    expect(won([ramp], { until: 199 })).toBeNull();
    expect(won([ramp], { until: 200 })).toBe("a");
    const late = rule("b", { ramp: [{ epoch: 1, percent: 100, inForceAt: 300 }] });
    expect(won([late, ramp], { until: 250 })).toBe("a");
    expect(won([late, ramp])).toBe("b");
  });

  test("is the least of those that apply, whatever their order", () => {
    const outcomes = fc.constantFrom("match" as const, "pending" as const, "diverged" as const);
    const some = fc.record({
      epoch: fc.nat(4),
      percent: fc.constantFrom(0, 50, 100),
      inForceAt: fc.nat(3),
      decision: outcomes,
      moved: fc.boolean(),
      paused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), fc.nat(4), fc.nat(), (all, until, turn) => {
        const rules = all.map(({ epoch, percent, inForceAt, paused }, position) =>
          rule(`r_${position}`, {
            position,
            state: paused ? "paused" : "active",
            ramp: paused ? [] : [{ epoch, percent, inForceAt }],
          }),
        );
        const applying = all
          .map((is, position) => ({ ...is, position, id: `r_${position}` }))
          .filter(
            ({ paused, moved, percent, inForceAt, decision, id }) =>
              !paused &&
              !moved &&
              isTaken({ id, percent }, uid) &&
              inForceAt <= until &&
              decision === "match",
          )
          .toSorted((a, b) => a.epoch - b.epoch || a.position - b.position);
        const marks = all.flatMap(({ moved }, position) =>
          moved ? [markOf(`r_${position}`, "migrated")] : [],
        );
        const cut = rules.length === 0 ? 0 : turn % rules.length;
        const turned = [...rules.slice(cut), ...rules.slice(0, cut)];
        const decide = ({ rule: { position } }: { rule: Rule }): Decided => ({
          decision: all[position]!.decision,
          atSeq: 1,
        });
        expect(won(turned, { marks, until, decide })).toBe(applying[0]?.id ?? null);
      }),
      { numRuns: 2_000 },
    );
  });
});
