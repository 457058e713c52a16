import { hexOf } from "../base/hex.ts";
import { markDefinition } from "../storage/registry-definitions.ts";
import { findRule, insertRule, updateRule } from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { oweSweep } from "../storage/registry-sweeps.ts";
import type { Registry } from "./context.ts";
import { textOf } from "./rule-draft.ts";
import type { Draft } from "./rule-draft.ts";
import { nextEpoch } from "./rules.ts";

/**
 * Makes the rule, ends the one that it replaces in the same epoch, and notes that their sweeps are to be told. Inside
 * a transaction; both definitions are stored.
 */
export function writeRule(
  { open, owe }: Registry,
  draft: Pick<Draft, "rule" | "replaces"> & {
    from: { id: string };
    to: { id: string; hash: string };
  },
  deploys: boolean,
  now: number,
  lease: number,
): RuleRow {
  const db = open();
  const id = `r_${hexOf(crypto.getRandomValues(new Uint8Array(8)))}`;
  const epoch = nextEpoch(db);
  const inForceAt = now + lease;
  const { rule, replaces } = draft;
  if (replaces !== null) {
    const retired = { ...replaces, state: "retired", ramp: "[]", epoch } as const;
    updateRule(db, { ...retired, in_force_at: inForceAt, replaced_by: id });
    oweSweep(db, replaces.id, false);
  }
  insertRule(db, {
    id,
    from_id: draft.from.id,
    to_id: draft.to.id,
    to_hash: draft.to.hash,
    deploys: deploys ? 1 : 0,
    body: textOf(rule),
    state: "active",
    percent: rule.percent,
    ramp: JSON.stringify([{ epoch, percent: rule.percent, inForceAt }]),
    epoch,
    deployed_at: now,
    in_force_at: inForceAt,
    replaces: replaces?.id ?? null,
  });
  // Actors come to it without having been spawned on it, so its content is kept.
  markDefinition(db, draft.to.id, "used");
  oweSweep(db, id, false);
  owe();
  return findRule(db, id) as RuleRow;
}
