import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { ruleOutcomes, surveyActors } from "../../src/directory/fleet.ts";
import type { OutcomePlace } from "../../src/directory/fleet.ts";
import type { RuleItem, RuleQuery } from "../../src/directory/rpc.ts";
import { RULE_OUTCOMES } from "../../src/migration/rule.ts";
import type { RuleOutcome } from "../../src/migration/rule.ts";
import { fresh } from "../support/api.ts";
import { counted, fleetOf, seeded } from "../support/directory.ts";
import { EVENTS } from "../support/histories.ts";
import { RULE_IDS, expectedOf, isOpen, lives } from "../support/rule-fleet.ts";

const [RULE = ""] = RULE_IDS;
const QUERY: RuleQuery = {
  ruleId: RULE,
  from: "loan-v1",
  historyPath: ["A", "B"],
  match: "subsequence",
  since: "entry",
  percent: 50,
  alphabet: EVENTS,
};

async function everyOutcome(
  tenant: string,
  outcome: RuleOutcome | null,
  limit: number,
): Promise<RuleItem[]> {
  const items: RuleItem[] = [];
  let after: OutcomePlace | null = null;
  do {
    const page: Awaited<ReturnType<typeof ruleOutcomes>> = await ruleOutcomes(
      env,
      tenant,
      { ruleId: RULE, outcome, limit },
      after,
    );
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    after = page.next;
  } while (after !== null);
  return items;
}

describe("a fleet over all shards", () => {
  const seed = Date.now() % 1_000_000;
  test(`is surveyed once each, and its outcomes are paged through without a repeat (seed ${seed})`, async () => {
    const all = lives(600, EVENTS, seeded(seed));
    const { tenant } = await fleetOf(all.length, (n) => all[n]?.entry ?? {});
    const watched = counted(env);
    const survey = await surveyActors(watched.env, tenant, QUERY, 3);
    expect(watched.calls.filter((call) => call.endsWith("survey"))).toHaveLength(16);
    const states = Map.groupBy(
      all.filter((life) => isOpen(QUERY, life)),
      ({ entry: { status, stateValue } }) => JSON.stringify([status, stateValue]),
    );
    expect(survey.classes).toHaveLength(states.size);
    for (const one of survey.classes) {
      const those = states.get(JSON.stringify([one.status, one.stateValue])) ?? [];
      const said = those.map((life) => ({ id: life.entry.id, ...expectedOf(QUERY, life) }));
      for (const kind of ["match", "pending", "diverged"] as const) {
        const ids = said.filter(({ decision }) => decision === kind).map(({ id }) => id);
        expect(one[kind], String(seed)).toBe(ids.length);
        expect(new Set(one.samples[kind]).size).toBe(Math.min(3, ids.length));
        expect(one.samples[kind].every((id) => ids.includes(id))).toBe(true);
      }
      const held = said.filter(({ decision, taken }) => decision === "match" && !taken);
      expect(one.held).toBe(held.length);
    }
    for (const outcome of [null, ...RULE_OUTCOMES]) {
      const wanted = all.filter(({ entry: { moves = [] } }) =>
        moves.some((mark) => mark.ruleId === RULE && mark.outcome === (outcome ?? mark.outcome)),
      );
      if (outcome !== null) expect(survey.outcomes[outcome]).toBe(wanted.length);
      for (const limit of [1, 7, 200]) {
        const got = await everyOutcome(tenant, outcome, limit);
        expect(got.map(({ actorId }) => actorId).sort()).toEqual(
          wanted.map(({ entry: { id } }) => id).sort(),
        );
      }
    }
  });

  test("that nobody is in has nothing, and gets no shards", async () => {
    const tenant = fresh("t");
    expect(await surveyActors(env, tenant, QUERY, 3)).toEqual({
      classes: [],
      finished: 0,
      outcomes: { migrated: 0, unmappable: 0, stranded: 0, rolled_back: 0 },
    });
    expect(await everyOutcome(tenant, null, 5)).toEqual([]);
  });

  test("is not surveyed by what is no rule", async () => {
    const { tenant } = await fleetOf(1, () => ({}));
    const query = { ...QUERY, percent: 101 };
    await expect(surveyActors(env, tenant, query, 3)).rejects.toThrow("percent");
  });
});
