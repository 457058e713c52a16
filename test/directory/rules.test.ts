import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Entry, RuleItem, RuleQuery, Selected } from "../../src/directory/rpc.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { countsIn } from "../../src/http/rule-progress.ts";
import { RULE_OUTCOMES } from "../../src/migration/rule.ts";
import type { RuleMark } from "../../src/migration/rule.ts";
import { fresh } from "../support/api.ts";
import {
  entry,
  evictShard,
  seeded,
  shardCalls,
  shardObject,
  sqlInShard,
  value,
} from "../support/directory.ts";
import { ALPHABET, EVENTS, SYSTEM, packed, written } from "../support/histories.ts";
import { referenceDecision } from "../support/history-reference.ts";
import { RULE_IDS, expectedOf, isOpen, lives } from "../support/rule-fleet.ts";
import type { Lived } from "../support/rule-fleet.ts";

const KINDS = ["match", "pending", "diverged", "near"] as const;
const PERCENTS = [0, 12.34, 50, 100];

async function shardWith(entries: readonly Entry[]): Promise<string> {
  const tenant = fresh("t");
  await shardCount(env, tenant, true);
  const name = `${tenant}/0`;
  await runInDurableObject(shardObject(name), async (shard) => {
    for (const given of await Promise.all(entries.map((one) => shard.put(one)))) value(given);
  });
  return name;
}

function ruleOf(over: Partial<RuleQuery> = {}): RuleQuery {
  return {
    ruleId: RULE_IDS[0] ?? "",
    from: "loan-v1",
    historyPath: ["A"],
    match: "prefix",
    since: "birth",
    percent: 100,
    alphabet: null,
    ...over,
  };
}

/** Every page of a stage. */
async function allCandidates(
  name: string,
  query: RuleQuery & { stage: "match" | "pending"; limit: number },
): Promise<{ items: Selected[]; looked: number; longest: number }> {
  const items: Selected[] = [];
  let looked = 0;
  let longest = 0;
  let after: string | null = null;
  do {
    const page: { items: Selected[]; looked: number; next: string | null } = value(
      await shardCalls(name).candidates({ ...query, after }),
    );
    items.push(...page.items);
    looked += page.looked;
    longest = Math.max(longest, page.items.length);
    after = page.next;
  } while (after !== null);
  return { items, looked, longest };
}

function rulesFrom(seed: number, runs: number): RuleQuery[] {
  const random = seeded(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return fc.sample(written, { seed, numRuns: runs }).map((rule) =>
    ruleOf({
      ...rule,
      ruleId: one([...RULE_IDS, null]),
      since: one(["birth", "entry"]),
      percent: one(PERCENTS),
      alphabet: one([null, [...ALPHABET]]),
    }),
  );
}

function markOf({ ruleId }: RuleQuery, { entry: { moves = [] } }: Lived): RuleMark | undefined {
  return moves.find((mark) => mark.ruleId === ruleId);
}

function isMoved(mark: RuleMark | undefined): boolean {
  return mark?.outcome === "migrated" || mark?.outcome === "rolled_back";
}

/** Where an actor is counted that is not open to the rule. */
function placeOf(query: RuleQuery, life: Lived): string {
  const mark = markOf(query, life);
  if (mark?.outcome === "migrated") return "migrated";
  if (mark?.outcome === "rolled_back") return "taken back";
  return life.entry.definitionId === query.from ? "finished" : "elsewhere";
}

function sorted(all: readonly Lived[]): string[] {
  return all.map(({ entry: { id } }) => id).sort();
}

describe("a shard that is asked about a rule", () => {
  const seed = Date.now() % 1_000_000;
  test(`says what names say of the copies it has, in surveys and in pages (seed ${seed})`, async () => {
    const random = seeded(seed);
    const size = LIMITS.entriesDecided + 1_800;
    const all = lives(size, [...EVENTS, ...SYSTEM], random);
    const name = await shardWith(all.map((life) => life.entry));
    const met = new Set<string>();
    for (const query of rulesFrom(seed, 40)) {
      const about = JSON.stringify({ ...query, alphabet: query.alphabet && "all", seed });
      const open = all.filter((life) => isOpen(query, life));
      const judged = open.map((life) => ({ life, ...expectedOf(query, life) }));
      const samples = Math.floor(random() * 6);
      const survey = value(await shardCalls(name).survey({ ...query, samples }));

      const states = Map.groupBy(judged, ({ life: { entry: one } }) =>
        JSON.stringify([one.status, one.stateValue]),
      );
      const shown = survey.classes.map(
        (one) => [JSON.stringify([one.status, one.stateValue]), one] as const,
      );
      expect(shown.map(([state]) => state).sort(), about).toEqual([...states.keys()].sort());
      for (const [state, one] of shown) {
        const those = states.get(state) ?? [];
        const of = {
          match: those.filter(({ decision }) => decision === "match"),
          pending: those.filter(({ decision }) => decision === "pending"),
          diverged: those.filter(({ decision }) => decision === "diverged"),
          near: those.filter(({ near }) => near),
        };
        const isRefused = ({ life }: { life: Lived }) => markOf(query, life) !== undefined;
        expect(one.refused, about).toEqual({
          match: of.match.filter(isRefused).length,
          pending: of.pending.filter(isRefused).length,
        });
        const held = of.match.filter((each) => !each.taken && !isRefused(each));
        expect(one.held, about).toBe(held.length);
        for (const kind of KINDS) {
          met.add(`${query.match} ${kind} ${of[kind].length > 0}`);
          const ids = sorted(of[kind].map(({ life }) => life));
          expect(one[kind], `${kind} ${about}`).toBe(ids.length);
          const some = one.samples[kind];
          expect(new Set(some).size).toBe(Math.min(samples, ids.length));
          expect(some.every((id) => ids.includes(id))).toBe(true);
          // From all over them.
          if (samples > 1 && ids.length > 20) {
            expect(ids.indexOf(some.at(-1) ?? "")).toBeGreaterThan(ids.length / 2);
          }
        }
      }
      const ended = all.filter(
        ({ entry: { definitionId, status } }) =>
          definitionId === query.from && (status === "done" || status === "terminated"),
      );
      const endedThere = ended.filter((life) => !isMoved(markOf(query, life)));
      expect(survey.finished, about).toBe(endedThere.length);
      for (const outcome of RULE_OUTCOMES) {
        const marked = all.filter(({ entry: { moves = [] } }) =>
          moves.some((mark) => mark.ruleId === query.ruleId && mark.outcome === outcome),
        );
        expect(survey.outcomes[outcome], about).toBe(marked.length);
      }
      // Each actor has one place, so that no two numbers contradict each other.
      const places = all.filter((life) => !isOpen(query, life)).map((life) => placeOf(query, life));
      for (const { life, decision, taken } of judged) {
        const refused = decision !== "diverged" && markOf(query, life) !== undefined;
        const held = decision === "match" && !taken;
        places.push(refused ? "unmappable" : held ? "held" : decision);
      }
      const at = (...some: string[]) => places.filter((place) => some.includes(place)).length;
      const counts = countsIn([survey]);
      expect(counts, about).toEqual({
        match: at("migrated", "taken back", "unmappable", "held", "match"),
        migrated: at("migrated"),
        pending: at("pending"),
        diverged: at("diverged"),
        unmappable: at("unmappable"),
        heldByCanary: at("held"),
        finished: at("finished"),
      });
      for (const place of places) met.add(place);

      const limit = 1 + Math.floor(random() * 900);
      for (const stage of ["match", "pending"] as const) {
        const wanted = judged.filter(
          ({ life, decision, sure, taken }) =>
            taken &&
            (decision === "match"
              ? stage === "match" || markOf(query, life) === undefined
              : stage === "pending" && (decision === "pending" || !sure)),
        );
        const got = await allCandidates(name, { ...query, stage, limit });
        expect(
          got.items.map(({ id }) => id),
          about,
        ).toEqual(sorted(wanted.map(({ life }) => life)));
        const uids = new Map(all.map(({ entry: one }) => [one.id, one.uid]));
        expect(got.items.every(({ id, uid }) => uids.get(id) === uid)).toBe(true);
        expect(got.looked).toBe(open.length);
        expect(got.longest).toBeLessThanOrEqual(limit);
      }
    }
    for (const place of ["migrated", "taken back", "unmappable", "held", "finished"]) {
      expect([...met]).toContain(place);
    }
    // What was generated reached every answer that there is.
    for (const match of ["prefix", "exact", "subsequence"]) {
      for (const kind of KINDS) expect([...met]).toContain(`${match} ${kind} true`);
    }
  });

  test(`names everyone who matches, however old the copy is and whatever codes collide (seed ${seed})`, async () => {
    // WAIVE_FEE and CQL_AOBL have one code.
    const names = ["A", "WAIVE_FEE", "CQL_AOBL", "@done:charge"];
    const all = lives(1_500, names, seeded(seed));
    const name = await shardWith(all.map((life) => life.entry));
    const paths: Pick<RuleQuery, "match" | "historyPath">[] = [
      { match: "prefix", historyPath: ["WAIVE_FEE"] },
      { match: "prefix", historyPath: ["A", "CQL_AOBL"] },
      { match: "exact", historyPath: ["CQL_AOBL", "@done:charge"] },
      { match: "subsequence", historyPath: ["!WAIVE_FEE", "A", "!CQL_AOBL", "A"] },
      { match: "subsequence", historyPath: ["WAIVE_FEE", "!CQL_AOBL", "WAIVE_FEE"] },
    ];
    let matched = 0;
    for (const path of paths) {
      for (const since of ["birth", "entry"] as const) {
        for (const alphabet of [null, names, ["A"]]) {
          const query = ruleOf({ ...path, since, alphabet, percent: 50 });
          const [match, pending] = [
            await allCandidates(name, { ...query, stage: "match", limit: 500 }),
            await allCandidates(name, { ...query, stage: "pending", limit: 500 }),
          ];
          const asked = [...match.items, ...pending.items].map(({ id }) => id);
          for (const { items } of [match, pending]) {
            expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
          }
          const wanted = all.filter((life) => {
            const types = since === "birth" ? life.types : life.types.slice(life.entered);
            return (
              isOpen(query, life) &&
              expectedOf(query, life).taken &&
              referenceDecision(path, types) === "match"
            );
          });
          matched += wanted.length;
          const missed = sorted(wanted).filter((id) => !asked.includes(id));
          expect(missed, JSON.stringify({ ...query, seed })).toEqual([]);
        }
      }
    }
    expect(matched).toBeGreaterThan(100);
  });

  test(`pages through what became of actors by it, each once (seed ${seed})`, async () => {
    const all = lives(700, EVENTS, seeded(seed));
    const name = await shardWith(all.map((life) => life.entry));
    for (const ruleId of [...RULE_IDS, "r_of_nobody"]) {
      for (const outcome of [null, ...RULE_OUTCOMES]) {
        const wanted = all.flatMap(({ entry: { id, moves = [] } }): RuleItem[] =>
          moves
            .filter((mark) => mark.ruleId === ruleId && mark.outcome === (outcome ?? mark.outcome))
            .map(({ ruleId: _rule, ...mark }) => ({ actorId: id, ...mark })),
        );
        wanted.sort((a, b) => (a.actorId < b.actorId ? -1 : 1));
        const got: RuleItem[] = [];
        let after: string | null = null;
        do {
          const page: { items: RuleItem[]; next: string | null } = value(
            await shardCalls(name).outcomes({ ruleId, outcome, after, limit: 13 }),
          );
          expect(page.items.length).toBeLessThanOrEqual(13);
          got.push(...page.items);
          after = page.next;
        } while (after !== null);
        expect(got).toEqual(wanted);
      }
    }
  });

  test("goes by the entry as it is, and by what it knows when it wakes", async () => {
    const one = entry({ steps: packed(["A"]) });
    const name = await shardWith([one]);
    const query = ruleOf({ historyPath: ["A", "B"] });
    const asked = async (stage: "match" | "pending") =>
      (await allCandidates(name, { ...query, stage, limit: 5 })).items.map(({ id }) => id);
    expect([await asked("match"), await asked("pending")]).toEqual([[], [one.id]]);
    const next = { ...one, seq: 2, steps: packed(["A", "B"]) };
    value(await shardCalls(name).put(next));
    await evictShard(name);
    // Whoever was pending when the first stage went by is met in the second.
    expect([await asked("match"), await asked("pending")]).toEqual([[one.id], [one.id]]);
    const refusal = {
      ruleId: query.ruleId ?? "",
      outcome: "unmappable" as const,
      reason: "state_missing: b",
      decidedAtSeq: 2,
      at: 4,
    };
    value(await shardCalls(name).put({ ...next, seq: 3, moves: [refusal], entered: 0 }));
    expect([await asked("match"), await asked("pending")]).toEqual([[one.id], []]);
    const mark = {
      ruleId: query.ruleId ?? "",
      outcome: "migrated" as const,
      decidedAtSeq: 2,
      at: 5,
    };
    value(await shardCalls(name).put({ ...next, seq: 4, moves: [mark], entered: 2 }));
    expect([await asked("match"), await asked("pending")]).toEqual([[], []]);
    value(await shardCalls(name).bury(one));
    expect(value(await shardCalls(name).survey({ ...query, samples: 5 }))).toEqual({
      classes: [],
      finished: 0,
      outcomes: { migrated: 0, unmappable: 0, stranded: 0, rolled_back: 0 },
    });
  });

  test("asks the actor where steps are none that an actor packs", async () => {
    const broken = ["AAAA", "*", "A===", "AAAAAAB", "A".repeat(220), "AgAAAAA=", "Ā".repeat(8)];
    const all = broken.map((steps) => entry({ steps, entered: 0 }));
    const name = await shardWith(all);
    const got = await allCandidates(name, { ...ruleOf(), stage: "pending", limit: 50 });
    expect(got.items).toHaveLength(broken.length);
  });

  test("refuses what is no rule", async () => {
    const name = await shardWith([entry()]);
    const shard = shardCalls(name);
    const hostile: unknown[] = [
      { historyPath: ["xstate.init"] },
      { historyPath: [] },
      { historyPath: "A" },
      { match: "most" },
      { since: "ever" },
      { percent: Number.NaN },
      { percent: 101 },
      { percent: -1 },
      { percent: "50" },
      { ruleId: 'r" OR 1' },
      { ruleId: 5 },
      { alphabet: "A" },
      { alphabet: [5] },
      { alphabet: ["\ud800"] },
    ];
    const refused = { ok: false, failure: { code: "invalid_request" } };
    for (const over of hostile) {
      const query = ruleOf(over as Partial<RuleQuery>);
      expect(await shard.survey({ ...query, samples: 1 })).toMatchObject(refused);
      const page = { stage: "match" as const, after: null, limit: 5 };
      expect(await shard.candidates({ ...query, ...page })).toMatchObject(refused);
    }
    const page = { after: null, limit: 5, outcome: null };
    expect(await shard.outcomes({ ...page, ruleId: "a b" })).toMatchObject(refused);
    const outcome = "__proto__" as "migrated";
    expect(await shard.outcomes({ ...page, ruleId: "r_1", outcome })).toMatchObject(refused);
  });
});

describe("a shard of the version before", () => {
  test("has its entries asked where it matters what they do not say", async () => {
    const never = entry({ steps: packed(["A"]) });
    const name = await shardWith([never]);
    for (const sql of [
      "DROP INDEX entry_moved",
      "ALTER TABLE entry DROP COLUMN moves",
      "ALTER TABLE entry DROP COLUMN entered",
      "UPDATE schema SET version = 1",
    ]) {
      await sqlInShard(name, sql);
    }
    await evictShard(name);
    const survey = async (over: Partial<RuleQuery>) =>
      value(await shardCalls(name).survey({ ...ruleOf(over), samples: 1 })).classes;
    expect(await survey({})).toMatchObject([{ match: 1, pending: 0 }]);
    expect(await survey({ since: "entry" })).toMatchObject([{ match: 0, pending: 1 }]);
    value(await shardCalls(name).put({ ...never, seq: 2, entered: 0, moves: [] }));
    expect(await survey({ since: "entry" })).toMatchObject([{ match: 1, pending: 0 }]);
    expect(await sqlInShard(name, "SELECT moves, entered FROM entry")).toEqual([
      { moves: null, entered: 0 },
    ]);
  });
});
