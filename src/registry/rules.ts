import type { Rule, RuleSet, RampStep } from "../migration/rule.ts";
import type { Db } from "../storage/db.ts";
import { findDefinition } from "../storage/registry-definitions.ts";
import {
  findRule,
  markSwept,
  rulesFrom as rowsFrom,
  rulesInEffect,
} from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { readSetting, writeSetting } from "../storage/registry-settings.ts";
import { alphabetOf, learnAlphabet } from "./alphabet.ts";
import type { RuleInput, SweepOrder } from "./rpc.ts";

const EPOCH = "rules_epoch";

/** 0 where there never was a rule. */
export function rulesEpoch(db: Db): number {
  return Number(readSetting(db, EPOCH) ?? 0);
}

/** The epoch of a change; in the transaction of that change. */
export function nextEpoch(db: Db): number {
  const epoch = rulesEpoch(db) + 1;
  writeSetting(db, EPOCH, String(epoch));
  return epoch;
}

/** A rule as it was first written. */
export function writtenOf({ body }: Pick<RuleRow, "body">): RuleInput {
  return JSON.parse(body) as RuleInput;
}

export function ruleOf(row: RuleRow): Rule {
  return {
    ...writtenOf(row),
    id: row.id,
    from: row.from_id,
    to: row.to_id,
    toHash: row.to_hash,
    position: row.position,
    percent: row.percent,
    state: row.state,
    inForceAt: row.in_force_at,
    ramp: JSON.parse(row.ramp) as RampStep[],
  };
}

/** All rules that are not retired. */
export function rules(db: Db | null): RuleSet {
  return db
    ? { epoch: rulesEpoch(db), rules: rulesInEffect(db).map(ruleOf) }
    : { epoch: 0, rules: [] };
}

/** Every rule about these definitions, retired ones too, oldest first. */
export function rulesFrom(db: Db | null, definitionIds: readonly string[]): Rule[] {
  if (!db) return [];
  return [...new Set(definitionIds)]
    .flatMap((id) => rowsFrom(db, id))
    .sort((a, b) => a.position - b.position)
    .map(ruleOf);
}

/** As `sweepOrder`, without holding others up where the family has many versions. */
export async function sweepOrderOf(stored: () => Db | null, id: string) {
  await learnOf(stored, id);
  return sweepOrder(stored(), id);
}

/** Learns the names that a rule's order has. */
export async function learnOf(stored: () => Db | null, id: string): Promise<void> {
  const db = stored();
  const row = db && findRule(db, id);
  if (db && row) await learnAlphabet(stored, findDefinition(db, row.from_id)?.family ?? "");
}

export function sweepOrder(db: Db | null, id: string): SweepOrder | null {
  const row = db && findRule(db, id);
  if (!db || !row) return null;
  const rule = ruleOf(row);
  const { from, historyPath, match, since, percent } = rule;
  const family = findDefinition(db, from)?.family ?? "";
  const alphabet = alphabetOf(db, family);
  const query = { ruleId: id, from, historyPath, match, since, percent, alphabet };
  return { rule, query, epoch: row.epoch };
}

/** A sweep that has gone by an older epoch says nothing about the rule as it is. */
export function swept(db: Db | null, { ruleId, epoch }: { ruleId: string; epoch: number }): void {
  const row = db && findRule(db, ruleId);
  if (db && row?.epoch === epoch) markSwept(db, ruleId, epoch);
}
