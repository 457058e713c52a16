import { callObject } from "../base/call-object.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { canonicalJson } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { unwrapped } from "../base/refused.ts";
import { isoTime } from "../base/time.ts";
import { askAll } from "../directory/ask.ts";
import type { RuleQuery, Survey } from "../directory/rpc.ts";
import type { Env } from "../env.ts";
import type { SweepProgress } from "../sweep/rpc.ts";

type Counts = { [name: string]: number };

/** What this isolate counted, of which rule as it stood, and when. */
const counted = new Lru<{ counts: Counts; stamp: string; at: number }>({
  count: LIMITS.rulesCounted,
});

/** A rule as the registry tells it, with how far it is. */
export async function ruleWithProgress(
  env: Env,
  tenant: string,
  { query, ...rule }: JsonObject,
): Promise<JsonValue> {
  const id = rule["id"] as string;
  // Asked first: a count that is younger than a sweep's end knows all that the sweep did.
  const progress = unwrapped(
    await callObject(env.SWEEPS, `${tenant}/${id}`, true, (sweep) => sweep.progress()),
  );
  const { startedAt, finishedAt, visited, woken, failed } = progress;
  const counts = await countsOf(env, tenant, rule, query as unknown as RuleQuery, progress);
  const time = (at: number | null) => (at === null ? null : isoTime(at));
  return {
    ...rule,
    counts: { ...counts, failed },
    sweep: { startedAt: time(startedAt), finishedAt: time(finishedAt), visited, woken },
  };
}

/** Pollers share a count for a second, unless the rule changed meanwhile or its sweep ended. */
async function countsOf(
  env: Env,
  tenant: string,
  rule: JsonObject,
  query: RuleQuery,
  { startedAt, finishedAt }: SweepProgress,
): Promise<Counts> {
  const name = `${tenant}/${rule["id"] as string}`;
  const stamp = canonicalJson({ rule, startedAt, finishedAt });
  const known = counted.get(name);
  const now = Date.now();
  if (known?.stamp === stamp && Math.abs(now - known.at) < LIMITS.ruleCountsMs) return known.counts;
  const counts = countsIn(
    await askAll(env, tenant, (shard) => shard.survey({ ...query, samples: 0 })),
  );
  counted.set(name, { counts, stamp, at: now });
  return counts;
}

/**
 * Each actor has one place: moved by the rule, ended on `from` without that, or living there: refused by the rule, held,
 * matching, pending or diverged. `match` has those who were moved, refused or held, too.
 */
export function countsIn(surveys: readonly Survey[]): Counts {
  const sum = {
    match: 0,
    migrated: 0,
    pending: 0,
    diverged: 0,
    unmappable: 0,
    heldByCanary: 0,
    finished: 0,
  };
  for (const { classes, finished, outcomes } of surveys) {
    const { migrated, rolled_back: rolledBack } = outcomes;
    sum.match += migrated + rolledBack;
    sum.migrated += migrated;
    sum.finished += finished;
    for (const { match, pending, diverged, refused, held } of classes) {
      // Codes of a long history leave open what the actor, which was refused, knows for certain.
      sum.match += match + refused.pending;
      sum.pending += pending - refused.pending;
      sum.diverged += diverged;
      sum.unmappable += refused.match + refused.pending;
      sum.heldByCanary += held;
    }
  }
  return sum;
}
