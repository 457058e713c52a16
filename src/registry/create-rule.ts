import { refuse } from "../base/errors.ts";
import type { Problem, Refused } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import type { Db } from "../storage/db.ts";
import { answeredBefore, answerOnce } from "../storage/once.ts";
import { findDefinition } from "../storage/registry-definitions.ts";
import { findRule } from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { confirmed, spend } from "./confirm.ts";
import type { Registry } from "./context.ts";
import { versionOf } from "./definitions.ts";
import { planRule } from "./plan.ts";
import { notFound } from "./replies.ts";
import { doubtsOf, problemsOf } from "./rule-check.ts";
import { invalid, refuseBeside, replaced, ruleInput } from "./rule-draft.ts";
import type { Draft } from "./rule-draft.ts";
import { ruleView } from "./rule-view.ts";
import type { CreateRuleCommand } from "./rpc.ts";
import { writeRule } from "./write-rule.ts";

type Proposal = Pick<CreateRuleCommand, "from" | "to" | "rule" | "replaces">;

/** Makes a rule between two definitions that are deployed. */
export async function createRule(registry: Registry, command: CreateRuleCommand): Promise<Reply> {
  const first = answeredBefore(registry.stored(), command);
  if (first) return first;
  const before = draftOf(registry.stored(), command);
  if (!before.ok) return before;
  const planned = await planRule(registry, before.draft, 0, Date.now());
  const passed =
    planned && (await confirmed(registry, planned, bodyOf(command), command.confirmToken));
  if (passed?.ok === false) return passed;
  const { stored, open } = registry;
  const now = Date.now();
  return answerOnce(stored(), open, command, now, () => {
    const drafted = draftOf(stored(), command);
    if (!drafted.ok) return drafted;
    const db = open();
    const refusal = passed && spend(db, passed, now);
    if (refusal) return refusal;
    const row = writeRule(registry, drafted.draft, false, now, command.lease);
    const near = passed && { nearMisses: passed.plan["nearMisses"] ?? 0 };
    const warnings = doubtsOf(db, drafted.draft) as unknown as JsonValue;
    return answer(201, { ...ruleView(row), warnings, ...near });
  });
}

/** What a token confirms. */
export function bodyOf({ from, to, rule, replaces }: Proposal): JsonValue {
  return { from, to, rule: ruleInput(rule) as unknown as JsonValue, replaces };
}

/** The rule as it would be made, or why it cannot be. */
export function draftOf(
  db: Db | null,
  { from, to, rule, replaces }: Proposal,
): { ok: true; draft: Draft } | Refused {
  const [older, younger] = [from, to].map((id) => {
    const row = db && findDefinition(db, id);
    return row && row.state !== "retired" ? row : null;
  });
  if (!db || !older) return notFound("definition_not_found", from);
  if (!younger) return notFound("definition_not_found", to);
  if (older.family !== younger.family) {
    return refuse(
      "family_mismatch",
      `${from} is of the family "${older.family}" and ${to} of "${younger.family}". Actors move within a family.`,
    );
  }
  let end: RuleRow | null = null;
  if (replaces !== null) {
    const found = replaced(findRule(db, replaces), replaces, from);
    if (!found.ok) return found;
    end = found.row;
  }
  const ends = { from: versionOf(db, older), to: versionOf(db, younger) };
  const draft = { ...ends, rule: ruleInput(rule), replaces: end };
  const problems = [
    ...(younger.position > older.position ? [] : [notYounger(from, to)]),
    ...problemsOf(draft),
  ];
  if (problems.length > 0) return invalid(problems);
  return refuseBeside(db, { ...draft, from, to }) ?? { ok: true, draft };
}

function notYounger(from: string, to: string): Problem {
  const message = `${to} was not deployed after ${from}: actors move to younger versions only, so that no chain of rules is a circle.`;
  return { pointer: "/to", code: "not_younger", message };
}
