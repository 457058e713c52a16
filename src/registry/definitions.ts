import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
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
import { answer, newestFirst, notFound, refuse } from "./replies.ts";
import type { RegistryReply, ResolvedDefinition } from "./rpc.ts";
import type { Standing } from "./standing.ts";

const LIST = "definitions";

/** A definition as lists show it. */
export function summary(row: DefinitionRow): JsonObject {
  return {
    id: row.id,
    family: row.family,
    hash: row.hash,
    parentId: row.parent_id,
    deployedAt: isoTime(row.deployed_at),
    inForceAt: isoTime(row.deployed_at),
  };
}

export function listDefinitions(
  db: Db | null,
  query: { limit: number; cursor: string | null },
  now: number,
): RegistryReply {
  return newestFirst(
    LIST,
    query,
    now,
    (before, limit) => (db ? pageOfDefinitions(db, before, limit) : []),
    summary,
  );
}

export function getDefinition(db: Db | null, id: string): RegistryReply {
  const row = present(db, id);
  if (!db || !row) return notFound("definition_not_found", id);
  const definition = JSON.parse(bodyOf(db, row)) as JsonValue;
  return answer(200, { ...summary(row), warnings: JSON.parse(row.warnings), definition });
}

/**
 * The row and its body stay, so that old logs can be read, ended actors shown, and the name is not given again.
 * `count` asks the directory who stands on it; an actor that is being spawned meanwhile runs on what it was given.
 */
export async function retireDefinition(
  stored: () => Db | null,
  id: string,
  count: () => Promise<Standing | null>,
): Promise<RegistryReply> {
  if (!present(stored(), id)) return notFound("definition_not_found", id);
  const standing = await count();
  // Another call may have retired it meanwhile.
  const db = stored();
  const row = present(db, id);
  if (!db || !row) return notFound("definition_not_found", id);
  if (standing === null && row.state === "used") {
    return refuse(
      "definition_in_use",
      `An actor was spawned on ${id}, and this server keeps no directory that could tell whether one still runs.`,
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
  markDefinition(db, id, "retired");
  return answer(204, null);
}

function present(db: Db | null, id: string): DefinitionRow | null {
  const row = db && findDefinition(db, id);
  return row && row.state !== "retired" ? row : null;
}

/** What an actor is spawned on: a definition, or the newest root of a family. */
export function acquire(
  db: Db | null,
  name: string,
): { ok: true; definition: ResolvedDefinition } | { ok: false; failure: Failure } {
  const row = db && named(db, name);
  if (!db || !row) return notFound("definition_not_found", name) as { ok: false; failure: Failure };
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

function bodyOf(db: Db, row: DefinitionRow): string {
  const json = findBody(db, row.hash);
  if (json === null) throw new Error(`The body ${row.hash} of definition ${row.id} is missing`);
  return json;
}
