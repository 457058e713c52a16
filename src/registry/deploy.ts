import type { Problem } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { sha256Hex } from "../base/sha256.ts";
import { codeOf } from "../fingerprint/kernel.ts";
import { canonicalDefinition } from "../machine/canonical.ts";
import { checkDefinition } from "../machine/check.ts";
import { diffDefinitions } from "../machine/diff.ts";
import type { CheckReport } from "../machine/types.ts";
import type { Db } from "../storage/db.ts";
import {
  countDefinitions,
  dropOrphanBody,
  familiesOfChildren,
  findBody,
  findDefinition,
  ownCode,
  ownerOfCode,
  putBody,
  putDefinition,
} from "../storage/registry-definitions.ts";
import type { DefinitionRow } from "../storage/registry-definitions.ts";
import { summary } from "./definitions.ts";
import { answer, notFound, refuse, tooMany } from "./replies.ts";
import type { DeployCommand, RegistryReply } from "./rpc.ts";
import type { Standing } from "./standing.ts";

const encoder = new TextEncoder();

interface Incoming extends DeployCommand {
  json: string;
  hash: string;
}

/**
 * Stores a definition under an id that is free, or answers why not. `stored` gives the database if it has
 * tables, `open` makes them; that is called only when something will be written. `count` asks the directory who
 * stands on the definition of this id.
 */
export async function deploy(
  stored: () => Db | null,
  open: () => Db,
  command: DeployCommand,
  count: () => Promise<Standing | null>,
  now: number,
): Promise<RegistryReply> {
  const json = canonicalDefinition(command.definition);
  const bytes = encoder.encode(json).byteLength;
  if (bytes > LIMITS.definitionBytes) {
    return refuse(
      "limit_exceeded",
      `A definition has at most ${LIMITS.definitionBytes} bytes of canonical JSON; this one has ${bytes}.`,
      { extra: { limit: "definitionBytes", most: LIMITS.definitionBytes } },
    );
  }
  const incoming = { ...command, json, hash: await sha256Hex(json) };
  const vacant = await vacantPosition(stored(), incoming, count);
  // Nothing is awaited from here on: what is read stays true until it is written.
  const before = stored();
  const present = before && findDefinition(before, incoming.id);
  if (before && present) {
    const verdict = meet(before, present, incoming, vacant);
    if (verdict !== "replace") return verdict;
  }
  const report = checkDefinition(incoming.definition);
  if (report.errors.length > 0 || report.family === null) return invalid(report.errors);
  const family = report.family;
  const refusal = checkLineage(before, incoming, family, present !== null);
  if (refusal) return refusal;
  const collisions = before ? findCollisions(before, family, report) : [];
  if (collisions.length > 0) return invalid(collisions);

  const db = open();
  const warnings = [
    ...report.warnings,
    ...(incoming.id === family ? [ID_IS_FAMILY] : []),
    ...(incoming.parentId === null ? [] : [LINEAGE_ONLY]),
  ];
  db.transaction(() => {
    putBody(db, incoming.hash, json);
    putDefinition(db, {
      id: incoming.id,
      family,
      hash: incoming.hash,
      parent_id: incoming.parentId,
      deployed_at: now,
      warnings: JSON.stringify(warnings),
    });
    // An actor that was handed the old content may be about to stand on it: what was ever used stays.
    if (present?.state === "unused") dropOrphanBody(db, present.hash);
    for (const type of sendable(report)) ownCode(db, family, codeOf(type), type);
  });
  const row = findDefinition(db, incoming.id) as DefinitionRow;
  return present ? deployed(row, 200, { replaced: true }) : deployed(row, 201, {});
}

const LINEAGE_ONLY: Problem = {
  pointer: "/parentId",
  code: "lineage_only",
  message:
    "parentId records where this definition comes from; no actor of the parent moves to it. Moving actors comes in a later version.",
};

const ID_IS_FAMILY: Problem = {
  pointer: "/id",
  code: "id_is_family",
  message:
    "The id is the family's name too: a spawn by it gets this definition, also when the family has a newer root. Give each version an id of its own, such as the family with a version behind it.",
};

function deployed(row: DefinitionRow, status: number, more: JsonObject): RegistryReply {
  return answer(status, {
    ...summary(row),
    warnings: JSON.parse(row.warnings) as JsonValue,
    rule: null,
    idempotent: false,
    ...more,
  });
}

/** Position of the definition that this one may replace: no actor stands on it, not even one that has ended. Null for none. */
async function vacantPosition(
  db: Db | null,
  { id, hash, parentId, replaceable }: Incoming,
  count: () => Promise<Standing | null>,
): Promise<number | null> {
  const present = db && findDefinition(db, id);
  if (!replaceable || !present || present.state === "retired") return null;
  if (present.hash === hash && present.parent_id === parentId) return null;
  const standing = await count();
  const empty = standing === null ? present.state === "unused" : standing.all === 0;
  return empty ? present.position : null;
}

/** What a deploy says where its id is taken. */
function meet(
  db: Db,
  present: DefinitionRow,
  incoming: Incoming,
  vacant: number | null,
): RegistryReply | "replace" {
  if (present.state === "retired") {
    return refuse(
      "definition_exists",
      `${incoming.id} was retired, and the name of a retired definition is never used again. Choose another id.`,
    );
  }
  const sameBody = present.hash === incoming.hash;
  const sameParent = present.parent_id === incoming.parentId;
  if (sameBody && sameParent) return deployed(present, 200, { idempotent: true });
  if (present.position === vacant) return "replace";

  const differs: { [part: string]: JsonValue } = {};
  if (!sameParent) {
    differs["parentId"] = { deployed: present.parent_id, sent: incoming.parentId };
  }
  if (!sameBody) {
    const before = JSON.parse(findBody(db, present.hash) ?? "{}") as JsonObject;
    const diff = diffDefinitions(before, incoming.definition) as unknown as JsonObject;
    differs["definition"] = { members: membersThatDiffer(before, incoming.definition), ...diff };
  }
  const what = Object.keys(differs).join(" and ");
  const used = incoming.replaceable ? " Actors stand on it, so it is not replaced." : "";
  return refuse(
    "definition_exists",
    `${incoming.id} is deployed with another ${what}.${used} A definition never changes: deploy this one under a new id, with parentId "${incoming.id}" if it follows from it.`,
    { extra: { differs } },
  );
}

function membersThatDiffer(before: JsonObject, after: JsonObject): string[] {
  // Wrapped, so that the order of states counts here as it does for the whole.
  const text = (definition: JsonObject, name: string) =>
    canonicalDefinition({ [name]: definition[name] ?? null });
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => text(before, name) !== text(after, name));
}

function checkLineage(
  db: Db | null,
  { id, parentId }: Incoming,
  family: string,
  replaces: boolean,
): RegistryReply | null {
  if (db && replaces) {
    const other = familiesOfChildren(db, id).find((child) => child !== family);
    if (other !== undefined) return mismatch(`Definitions that descend from ${id}`, other, family);
  } else if (db && countDefinitions(db) >= LIMITS.definitionsPerTenant) {
    return tooMany(
      "definitionsPerTenant",
      `A tenant has at most ${LIMITS.definitionsPerTenant} definitions, retired ones included.`,
    );
  }
  if (parentId === null) return null;
  const parent = db && findDefinition(db, parentId);
  if (!db || !parent || parent.state === "retired") return notFound("parent_not_found", parentId);
  if (parent.family !== family) return mismatch(`The parent ${parentId}`, parent.family, family);
  // Only a replaced definition can already have descendants.
  for (let ancestor: DefinitionRow | null = parent; ancestor;) {
    if (ancestor.id === id) {
      return refuse("parent_not_found", `${parentId} itself descends from ${id}.`);
    }
    ancestor = ancestor.parent_id === null ? null : findDefinition(db, ancestor.parent_id);
  }
  return null;
}

function mismatch(who: string, family: string, sent: string): RegistryReply {
  return refuse(
    "family_mismatch",
    `${who} and this definition are of two families, "${family}" and "${sent}". The family is the machine's own id and stays the same from version to version.`,
  );
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

function invalid(errors: Problem[]): RegistryReply {
  const detail = "The definition is not valid, and nothing was stored; errors says what to mend.";
  return refuse("definition_invalid", detail, { errors });
}
