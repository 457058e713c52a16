import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { PageQuery } from "../base/page-down.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import type { Db } from "../storage/db.ts";
import {
  findBody,
  findDefinition,
  markDefinition,
  newestRoot,
  pageOfDefinitions,
} from "../storage/registry-definitions.ts";
import type { DefinitionRow } from "../storage/registry-definitions.ts";
import { ruleOfDeploy, rulesFrom, ruleThatNeeds } from "../storage/registry-rules.ts";
import type { Rule } from "../migration/rule.ts";
import { newestFirst, notFound } from "./replies.ts";
import { ruleOf } from "./rules.ts";
import { ruleView } from "./rule-view.ts";
import type { ResolvedDefinition } from "./rpc.ts";
import type { Version } from "./rule-draft.ts";
import type { Standing } from "./standing.ts";

const LIST = "definitions";

/** A definition as lists show it, with the rule that it was deployed with, as that is now. */
export function summary(db: Db, row: DefinitionRow): JsonObject {
  const rule = row.parent_id === null ? null : ruleOfDeploy(db, row.id);
  return {
    id: row.id,
    family: row.family,
    hash: row.hash,
    parentId: row.parent_id,
    deployedAt: isoTime(row.deployed_at),
    inForceAt: isoTime(rule?.in_force_at ?? row.deployed_at),
    rule: rule && ruleView(rule),
  };
}

export function listDefinitions(db: Db | null, query: PageQuery, now: number): Reply {
  return newestFirst(db, LIST, query, now, pageOfDefinitions, (row, from) => summary(from, row));
}

export function getDefinition(db: Db | null, id: string): Reply {
  const row = present(db, id);
  if (!db || !row) return notFound("definition_not_found", id);
  const definition = JSON.parse(bodyOf(db, row)) as JsonValue;
  return answer(200, { ...summary(db, row), warnings: JSON.parse(row.warnings), definition });
}

/**
 * The row and its body stay, so that old logs can be read, ended actors shown, and the name is not given again.
 * `count` asks the directory who stands on it; an actor that is being spawned meanwhile runs on what it was given.
 */
export async function retireDefinition(
  stored: () => Db | null,
  id: string,
  count: () => Promise<Standing | null>,
): Promise<Reply> {
  if (!present(stored(), id)) return notFound("definition_not_found", id);
  const standing = await count();
  // Another call may have retired it meanwhile.
  const db = stored();
  const row = present(db, id);
  if (!db || !row) return notFound("definition_not_found", id);
  if (standing === null && row.state === "used") {
    return refuse(
      "definition_in_use",
      `An actor was spawned on ${id}, or a rule led to it, and this server keeps no directory that could tell whether one still runs.`,
    );
  }
  if (standing !== null && standing.unfinished > 0) {
    const { unfinished } = standing;
    const actors = unfinished === 1 ? "1 actor that has" : `${unfinished} actors that have`;
    return refuse(
      "definition_in_use",
      `${id} has ${actors} not ended; the directory may be a second behind. GET /v1/actors?definitionId=${id} lists them.`,
      { extra: { unfinished } },
    );
  }
  const ruleId = ruleThatNeeds(db, id);
  if (ruleId !== null) {
    return refuse(
      "definition_in_use",
      `The migration rule ${ruleId} leads from or to ${id}. POST /v1/migrations/${ruleId}/retire ends it.`,
      { extra: { ruleId } },
    );
  }
  markDefinition(db, id, "retired");
  return answer(204, null);
}

function present(db: Db | null, id: string): DefinitionRow | null {
  const row = db && findDefinition(db, id);
  return row && row.state !== "retired" ? row : null;
}

/** What an actor is spawned on: a definition, or the newest root of a family and along the rules that take everyone. */
export function acquire(
  db: Db | null,
  name: string,
  now: number,
): { ok: true; definition: ResolvedDefinition } | Refused {
  const row = db && (present(db, name) ?? newestOf(db, name, now));
  if (!db || !row) return notFound("definition_not_found", name);
  if (row.state === "unused") markDefinition(db, row.id, "used");
  return { ok: true, definition: resolved(db, row) };
}

export function knows(db: Db | null, name: string): boolean {
  return db !== null && named(db, name) !== null;
}

/** A definition, or the newest root of a family. */
function named(db: Db, name: string): DefinitionRow | null {
  return present(db, name) ?? newestRoot(db, name);
}

/** Where a new actor of a family goes: each rule leads to a younger definition, so the way ends. */
function newestOf(db: Db, family: string, now: number): DefinitionRow | null {
  let row = newestRoot(db, family);
  while (row !== null) {
    const rule = rulesFrom(db, row.id)
      .map(ruleOf)
      .filter((one) => takesAll(one, now))
      .sort(longest)[0];
    const next = rule === undefined ? null : present(db, rule.to);
    if (next === null) return row;
    row = next;
  }
  return null;
}

function takesAll({ match, state, percent, ramp }: Rule, now: number): boolean {
  return (
    match === "all" &&
    state === "active" &&
    percent === 100 &&
    (ramp.at(-1)?.inForceAt ?? Number.POSITIVE_INFINITY) <= now
  );
}

/** Who has taken everyone for longest comes first. */
function longest(a: Rule, b: Rule): number {
  return (a.ramp.at(-1)?.epoch ?? 0) - (b.ramp.at(-1)?.epoch ?? 0) || a.position - b.position;
}

export function resolve(db: Db | null, id: string): ResolvedDefinition | null {
  const row = db && findDefinition(db, id);
  return db && row ? resolved(db, row) : null;
}

export function definitionByHash(db: Db | null, hash: string): string | null {
  return db && findBody(db, hash);
}

function resolved(db: Db, row: DefinitionRow): ResolvedDefinition {
  return { id: row.id, family: row.family, hash: row.hash, json: bodyOf(db, row) };
}

/** A definition as a rule leads from it or to it. */
export function versionOf(db: Db, row: DefinitionRow): Version {
  return resolved(db, row);
}

function bodyOf(db: Db, row: DefinitionRow): string {
  const json = findBody(db, row.hash);
  if (json === null) throw new Error(`The body ${row.hash} of definition ${row.id} is missing`);
  return json;
}
