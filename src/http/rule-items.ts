import { invalidCursor } from "../base/cursor.ts";
import { decodePlace, encodePlace } from "../base/place-cursor.ts";
import { callObject } from "../base/call-object.ts";
import { isoTime } from "../base/time.ts";
import { askShard } from "../directory/ask.ts";
import { shardNames } from "../base/ids.ts";
import { unwrapped } from "../base/refused.ts";
import { shardCount } from "../directory/shards.ts";
import type { Env } from "../env.ts";
import { RULE_OUTCOMES } from "../migration/rule.ts";
import type { RuleOutcome } from "../migration/rule.ts";

export const ITEM_OUTCOMES = [...RULE_OUTCOMES, "failed"] as const;
type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** What became of an actor by a rule, or why it could not even be asked. */
export interface Item {
  actorId: string;
  outcome: ItemOutcome;
  reason?: string;
  /** Null where it failed: nothing was decided. */
  decidedAtSeq: number | null;
  at: string;
}

/** A list in the order of ids, each once, behind one of them. */
type Read = (
  after: string | null,
  limit: number,
) => Promise<{ items: Item[]; next: string | null }>;

interface ItemsQuery {
  tenant: string;
  ruleId: string;
  outcome: ItemOutcome | null;
  after: string | null;
  limit: number;
}

/** A page in the order of ids: what shards know of marks, and the sweep of failures. An actor that has both shows its mark. */
export async function ruleItems(
  env: Env,
  query: ItemsQuery,
): Promise<{ items: Item[]; next: string | null }> {
  const { after, limit } = query;
  const lists = await Promise.all(
    (await sources(env, query)).map((read) => readSome(read, after, limit)),
  );
  const byId = new Map<string, Item>();
  for (const item of lists.flatMap(({ items }) => items)) {
    if (item.outcome !== "failed" || !byId.has(item.actorId)) byId.set(item.actorId, item);
  }
  // Each list gave as many as fit a page, or all that it has, so none of the first ones is missing.
  const sorted = [...byId.values()].sort((a, b) => (a.actorId < b.actorId ? -1 : 1));
  const items = sorted.slice(0, limit);
  const more = sorted.length > limit || lists.some((list) => list.more);
  return { items, next: more ? (items.at(-1)?.actorId ?? null) : null };
}

async function sources(env: Env, query: ItemsQuery): Promise<Read[]> {
  const { tenant, ruleId, outcome } = query;
  const failed = outcome === null || outcome === "failed" ? [failuresOf(env, tenant, ruleId)] : [];
  if (outcome === "failed") return failed;
  const count = (await shardCount(env, tenant, false)) ?? 0;
  return [
    ...shardNames(tenant, count).map((name) => marksIn(env, name, ruleId, outcome)),
    ...failed,
  ];
}

function marksIn(env: Env, name: string, ruleId: string, outcome: RuleOutcome | null): Read {
  return async (after, limit) => {
    const page = await askShard(env, name, (shard) =>
      shard.outcomes({ ruleId, outcome, after, limit }),
    );
    return { ...page, items: page.items.map((item) => ({ ...item, at: isoTime(item.at) })) };
  };
}

function failuresOf(env: Env, tenant: string, ruleId: string): Read {
  return async (after, limit) => {
    const page = unwrapped(
      await callObject(env.SWEEPS, `${tenant}/${ruleId}`, true, (sweep) =>
        sweep.failures({ after, limit }),
      ),
    );
    const items = page.items.map(({ actorId, reason, at }) => {
      return { actorId, outcome: "failed", reason, decidedAtSeq: null, at: isoTime(at) } as const;
    });
    return { ...page, items };
  };
}

/** As many as asked for, fewer only at the end. */
async function readSome(
  read: Read,
  after: string | null,
  limit: number,
): Promise<{ items: Item[]; more: boolean }> {
  const items: Item[] = [];
  let behind = after;
  do {
    const page = await read(behind, limit - items.length);
    items.push(...page.items);
    behind = page.next;
  } while (behind !== null && items.length < limit);
  return { items, more: behind !== null };
}

/** Cursors of one rule and outcome; a place here is an id alone. */
export function itemsMark({ ruleId, outcome }: Pick<ItemsQuery, "ruleId" | "outcome">): string {
  return `${ruleId} ${outcome ?? "all"}`;
}

export function encodeItem(mark: string, id: string): string {
  return encodePlace(mark, { bornAt: 0, id });
}

export function decodeItem(mark: string, cursor: string): string {
  const place = decodePlace(mark, cursor);
  if (place !== null && place.bornAt === 0) return place.id;
  throw invalidCursor();
}
