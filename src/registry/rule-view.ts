import type { JsonObject } from "../base/json.ts";
import type { PageQuery } from "../base/page-down.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import type { Db } from "../storage/db.ts";
import { findRule, pageOfRules } from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { newestFirst, notFound } from "./replies.ts";
import { sweepOrder, writtenOf } from "./rules.ts";

const LIST = "migrations";

/** A rule on the wire. */
export function ruleView(row: RuleRow): JsonObject {
  const { historyPath, match, since, stateMapping, contextMapping, onUnmappable } = writtenOf(row);
  const sweeping = row.state === "active" && row.swept_epoch < row.epoch;
  return {
    id: row.id,
    from: row.from_id,
    to: row.to_id,
    historyPath,
    match,
    since,
    stateMapping,
    contextMapping,
    onUnmappable,
    percent: row.percent,
    state: sweeping ? "sweeping" : row.state,
    deployedAt: isoTime(row.deployed_at),
    inForceAt: isoTime(row.in_force_at),
    replaces: row.replaces,
    replacedBy: row.replaced_by,
  };
}

export function listRules(db: Db | null, query: PageQuery, now: number): Reply {
  return newestFirst(db, LIST, query, now, pageOfRules, ruleView);
}

/** With the query for the survey that counts, which callers do not see. */
export function getRule(db: Db | null, id: string): Reply {
  const row = db && findRule(db, id);
  if (!row) return notFound("rule_not_found", id);
  const query = sweepOrder(db, id)?.query as unknown as JsonObject;
  return answer(200, { ...ruleView(row), query });
}
