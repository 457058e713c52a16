import { refuse } from "../base/errors.ts";
import type { Problem, Refused } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Db } from "../storage/db.ts";
import { countRules, rulesFrom, rulesSize } from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { notFound } from "./replies.ts";
import { writtenOf } from "./rules.ts";
import type { RuleInput } from "./rpc.ts";

/** One end of a rule. */
export interface Version {
  id: string;
  family: string;
  hash: string;
  /** Canonical JSON text. */
  json: string;
}

/** A rule that is about to be made. */
export interface Draft {
  from: Version;
  to: Version;
  rule: RuleInput;
  /** What it is made in place of. */
  replaces: RuleRow | null;
}

/** The members of a rule that are known here, and nothing else that came along. */
export function ruleInput(rule: RuleInput): RuleInput {
  const { historyPath, match, since, stateMapping, contextMapping, onUnmappable, percent } = rule;
  return { historyPath, match, since, stateMapping, contextMapping, onUnmappable, percent };
}

/** One text for one rule, as it was first written. */
export function textOf(rule: RuleInput): string {
  return canonicalJson(ruleInput(rule) as unknown as JsonValue);
}

/** The same but for the share of actors, which is changed without a new rule. */
function sameBut(rule: RuleInput): string {
  const { percent: _, ...body } = ruleInput(rule);
  return canonicalJson(body as unknown as JsonObject);
}

/** Why the tenant cannot have this rule beside those that there are, or null. */
export function refuseBeside(db: Db | null, draft: Omit<Draft, "from" | "to"> & Ends) {
  if (!db) return null;
  const { from, to, rule, replaces } = draft;
  const beside = rulesFrom(db, from).filter(
    ({ id, state }) => state !== "retired" && id !== replaces?.id,
  );
  const body = sameBut(rule);
  const same = beside.find((row) => row.to_id === to && sameBut(writtenOf(row)) === body);
  if (same !== undefined) {
    return refuse(
      "rule_exists",
      `${same.id} is this rule already, and it is ${same.state}. PATCH /v1/migrations/${same.id} changes its percentage.`,
      { extra: { ruleId: same.id } },
    );
  }
  if (beside.length >= LIMITS.rulesPerDefinition) {
    return refuseLimit(
      "rulesPerDefinition",
      `At most ${LIMITS.rulesPerDefinition} rules lead from one definition; retire one that is done.`,
    );
  }
  const { inEffect, ever } = countRules(db, replaces?.id ?? "");
  if (inEffect >= LIMITS.rulesPerTenant) {
    return refuseLimit(
      "rulesPerTenant",
      `A tenant has at most ${LIMITS.rulesPerTenant} migration rules that are not retired; retire some that are done.`,
    );
  }
  if (ever >= LIMITS.rulesEver) {
    return refuseLimit(
      "rulesEver",
      `A tenant has at most ${LIMITS.rulesEver} migration rules, retired ones included.`,
    );
  }
  const most = LIMITS.rulesChars;
  if (rulesSize(db, replaces?.id ?? "") + textOf(rule).length > most) {
    return refuseLimit(
      "rulesChars",
      `The rules of a tenant that are not retired have at most ${most} characters in all; retire some that are done.`,
    );
  }
  return null;
}

interface Ends {
  from: string;
  to: string;
}

/** What is said of `replaces`: the rule, or why it cannot be replaced. */
export function replaced(
  row: RuleRow | null,
  id: string,
  from: string,
): { ok: true; row: RuleRow } | Refused {
  if (row === null) return notFound("rule_not_found", id);
  if (row.state === "retired") {
    return refuse("rule_retired", `${id} is retired already; make the new rule without replaces.`);
  }
  if (row.from_id === from) return { ok: true, row };
  return invalid([
    {
      pointer: "/replaces",
      code: "other_from",
      message: `${id} moves actors from ${row.from_id}. A rule replaces one from the same definition.`,
    },
  ]);
}

export function invalid(errors: Problem[]): Refused {
  const detail =
    "The migration rule is not valid, and nothing was stored; errors says what to mend.";
  return refuse("migration_invalid", detail, { errors });
}
