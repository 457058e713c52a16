import { refuse } from "../base/errors.ts";
import type { Problem, Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { codeOf } from "../fingerprint/kernel.ts";
import type { CheckReport } from "../machine/types.ts";
import type { Db } from "../storage/db.ts";
import {
  dropOrphanBody,
  findDefinition,
  ownCode,
  ownerOfCode,
  putBody,
  putDefinition,
} from "../storage/registry-definitions.ts";
import type { DefinitionRow } from "../storage/registry-definitions.ts";
import { detachRuleOfDeploy } from "../storage/registry-rules.ts";
import { confirmed, spend } from "./confirm.ts";
import type { Offer } from "./confirm.ts";
import type { Registry } from "./context.ts";
import { summary, versionOf } from "./definitions.ts";
import { readIncoming } from "./incoming.ts";
import type { Incoming } from "./incoming.ts";
import { checkLineage } from "./lineage.ts";
import { meet, vacantPosition } from "./meet.ts";
import { planRule } from "./plan.ts";
import { doubtsOf, problemsOf } from "./rule-check.ts";
import { invalid as invalidRule, refuseBeside } from "./rule-draft.ts";
import type { Draft } from "./rule-draft.ts";
import type { DeployCommand } from "./rpc.ts";
import type { Standing } from "./standing.ts";
import { writeRule } from "./write-rule.ts";

type Count = () => Promise<Standing | null>;

/** What a deploy would write. */
interface Ready {
  ok: true;
  family: string;
  report: CheckReport;
  /** What it replaces. */
  present: DefinitionRow | null;
  draft: Draft | null;
}

type Verdict = Ready | { ok: "same"; present: DefinitionRow; draft: Draft | null } | Refused;

/**
 * Stores a definition under an id that is free, and the rule that moves actors to it, or answers why not. `count`
 * asks the directory who stands on the definition of this id.
 */
export async function deploy(
  registry: Registry,
  command: DeployCommand,
  count: Count,
): Promise<Reply> {
  const read = await readIncoming(command);
  if (!read.ok) return read;
  const { incoming } = read;
  const look = async () =>
    judge(registry.stored(), incoming, await vacant(registry, incoming, count));
  let verdict = await look();
  if (verdict.ok === false) return verdict;
  if (verdict.ok === "same") return same(registry, verdict.present);

  let offer: Offer | null = null;
  if (verdict.draft !== null) {
    const planned = await planRule(registry, verdict.draft, 0, Date.now());
    const token = command.confirmToken ?? null;
    const passed = planned && (await confirmed(registry, planned, bodyOf(incoming), token));
    if (passed?.ok === false) return passed;
    offer = passed;
    verdict = await look();
    if (verdict.ok === false) return verdict;
    if (verdict.ok === "same") return same(registry, verdict.present);
  }
  // Nothing was awaited since the last look: what was read is true until it is written.
  return write(registry, incoming, verdict, offer, command.lease ?? 0, Date.now());
}

function vacant(registry: Registry, incoming: Incoming, count: Count): Promise<number | null> {
  return vacantPosition(registry.stored(), incoming, count);
}

/** What a token confirms. */
export function bodyOf({ id, hash, parentId, rule }: Incoming): JsonValue {
  return { id, hash, parentId, rule: rule as unknown as JsonValue };
}

/** All that is looked at before anything is stored. `free`: position of the definition that may be replaced. */
export function judge(db: Db | null, incoming: Incoming, free: number | null): Verdict {
  const present = db && findDefinition(db, incoming.id);
  const met = db && present && meet(db, present, incoming, free);
  if (met && met !== "same" && met !== "replace") return met;
  const draft = (family: string): Draft | null => {
    const { id, hash, json, parentId, rule } = incoming;
    const from = db && parentId !== null ? findDefinition(db, parentId) : null;
    if (!db || !from || rule === null) return null;
    return { from: versionOf(db, from), to: { id, family, hash, json }, rule, replaces: null };
  };
  if (met === "same" && present) return { ok: "same", present, draft: draft(present.family) };

  const report = incoming.report();
  if (report.errors.length > 0 || report.family === null) return invalid(report.errors);
  const { family } = report;
  const refusal = checkLineage(db, incoming, family, present !== null);
  if (refusal) return refusal;
  const collisions = db ? findCollisions(db, family, report) : [];
  if (collisions.length > 0) return invalid(collisions);
  const drafted = draft(family);
  if (drafted !== null) {
    const problems = problemsOf(drafted);
    if (problems.length > 0) return invalidRule(problems);
    const { from, to } = drafted;
    const beside = refuseBeside(db, { ...drafted, from: from.id, to: to.id });
    if (beside) return beside;
  }
  return { ok: true, family, report, present, draft: drafted };
}

function write(
  registry: Registry,
  incoming: Incoming,
  { family, report, present, draft }: Ready,
  offer: Offer | null,
  lease: number,
  now: number,
): Reply {
  const db = registry.open();
  const warnings = [
    ...report.warnings,
    ...(incoming.id === family ? [ID_IS_FAMILY] : []),
    ...(incoming.parentId === null || draft !== null ? [] : [LINEAGE_ONLY]),
    ...(draft === null ? [] : doubtsOf(db, draft)),
  ];
  return db.transaction(() => {
    const refusal = offer && spend(db, offer, now);
    if (refusal) return refusal;
    putBody(db, incoming.hash, incoming.json);
    putDefinition(db, {
      id: incoming.id,
      family,
      hash: incoming.hash,
      parent_id: incoming.parentId,
      deployed_at: now,
      warnings: JSON.stringify(warnings),
    });
    if (present !== null) detachRuleOfDeploy(db, present.id);
    // An actor that was handed the old content may be about to stand on it: what was ever used stays.
    if (present?.state === "unused") dropOrphanBody(db, present.hash);
    for (const type of sendable(report)) ownCode(db, family, codeOf(type), type);
    if (draft !== null) writeRule(registry, draft, true, now, lease);
    const near = offer && { nearMisses: offer.plan["nearMisses"] ?? 0 };
    const row = findDefinition(db, incoming.id) as DefinitionRow;
    return present === null
      ? deployed(db, row, 201, { ...near })
      : deployed(db, row, 200, { ...near, replaced: true });
  });
}

const LINEAGE_ONLY: Problem = {
  pointer: "/parentId",
  code: "lineage_only",
  message:
    'parentId records where this definition comes from; no actor of the parent moves to it. A historyPath, or match "all", says who moves; POST /v1/migrations does so afterwards.',
};

const ID_IS_FAMILY: Problem = {
  pointer: "/id",
  code: "id_is_family",
  message:
    "The id is the family's name too: a spawn by it gets this definition, also when the family has a newer root. Give each version an id of its own, such as the family with a version behind it.",
};

function same(registry: Registry, present: DefinitionRow): Reply {
  return deployed(registry.open(), present, 200, { idempotent: true });
}

function deployed(db: Db, row: DefinitionRow, status: number, more: JsonObject): Reply {
  return answer(status, {
    ...summary(db, row),
    warnings: JSON.parse(row.warnings) as JsonValue,
    idempotent: false,
    ...more,
  });
}

/** Event types that a history can hold; a wildcard is none. */
function sendable(report: CheckReport): string[] {
  return report.events.filter((type) => type !== "*" && !type.endsWith(".*"));
}

/** Event types whose code another type of the family has: a packed history could not tell them apart. */
function findCollisions(db: Db, family: string, report: CheckReport): Problem[] {
  const problems: Problem[] = [];
  for (const type of sendable(report)) {
    const owner = ownerOfCode(db, family, codeOf(type));
    if (owner === null || owner === type) continue;
    problems.push({
      pointer: "",
      code: "event_code_clash",
      message: `The event types "${type}" and "${owner}" of the family "${family}" have the same 32-bit code. Rename "${type}".`,
    });
  }
  return problems;
}

function invalid(errors: Problem[]): Refused {
  const detail = "The definition is not valid, and nothing was stored; errors says what to mend.";
  return refuse("definition_invalid", detail, { errors });
}
