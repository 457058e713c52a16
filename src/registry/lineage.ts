import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Db } from "../storage/db.ts";
import {
  countDefinitions,
  familiesOfChildren,
  findDefinition,
} from "../storage/registry-definitions.ts";
import type { DefinitionRow } from "../storage/registry-definitions.ts";
import { notFound } from "./replies.ts";
import type { DeployCommand } from "./rpc.ts";

/** Why a definition cannot be of this family and descent, or null. `replaces`: there is one of its id, which goes. */
export function checkLineage(
  db: Db | null,
  { id, parentId }: Pick<DeployCommand, "id" | "parentId">,
  family: string,
  replaces: boolean,
): Refused | null {
  if (db && replaces) {
    const other = familiesOfChildren(db, id).find((child) => child !== family);
    if (other !== undefined) return mismatch(`Definitions that descend from ${id}`, other, family);
  } else if (db && countDefinitions(db) >= LIMITS.definitionsPerTenant) {
    return refuseLimit(
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

function mismatch(who: string, family: string, sent: string) {
  return refuse(
    "family_mismatch",
    `${who} and this definition are of two families, "${family}" and "${sent}". The family is the machine's own id and stays the same from version to version.`,
  );
}
