import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { canonicalDefinition } from "../machine/canonical.ts";
import { diffDefinitions } from "../machine/diff.ts";
import type { Db } from "../storage/db.ts";
import { findBody, findDefinition } from "../storage/registry-definitions.ts";
import type { DefinitionRow } from "../storage/registry-definitions.ts";
import { ruleOfDeploy, ruleThatNeeds } from "../storage/registry-rules.ts";
import type { Incoming } from "./incoming.ts";
import { textOf } from "./rule-draft.ts";
import type { Standing } from "./standing.ts";

/** What of a deploy is not as it stands there; empty for the very same. */
function differences(db: Db, present: DefinitionRow, incoming: Incoming): string[] {
  const parts: string[] = [];
  if (present.parent_id !== incoming.parentId) parts.push("parentId");
  if (present.hash !== incoming.hash) parts.push("definition");
  const written = ruleOfDeploy(db, present.id)?.body ?? null;
  if (written !== (incoming.rule && textOf(incoming.rule))) parts.push("rule");
  return parts;
}

/** Position of the definition that this one may replace: no actor stands on it, not even one that has ended, and no rule needs it. Null for none. */
export async function vacantPosition(
  db: Db | null,
  incoming: Incoming,
  count: () => Promise<Standing | null>,
): Promise<number | null> {
  const present = db && findDefinition(db, incoming.id);
  if (!incoming.replaceable || !db || !present || present.state === "retired") return null;
  if (differences(db, present, incoming).length === 0) return null;
  const standing = await count();
  const empty = standing === null ? present.state === "unused" : standing.all === 0;
  return empty ? present.position : null;
}

/** What a deploy says where its id is taken. */
export function meet(
  db: Db,
  present: DefinitionRow,
  incoming: Incoming,
  vacant: number | null,
): Refused | "same" | "replace" {
  const { id } = incoming;
  if (present.state === "retired") {
    return refuse(
      "definition_exists",
      `${id} was retired, and the name of a retired definition is never used again. Choose another id.`,
    );
  }
  const parts = differences(db, present, incoming);
  if (parts.length === 0) return "same";
  const needing = ruleThatNeeds(db, id);
  if (present.position === vacant && needing === null) return "replace";

  const differs: { [part: string]: JsonValue } = {};
  for (const part of parts) differs[part] = difference(db, present, incoming, part);
  return refuse(
    "definition_exists",
    `${id} is deployed with another ${parts.join(" and ")}.${whyKept(incoming, vacant !== null, needing)} ${advice(parts, incoming)}`,
    { extra: { differs } },
  );
}

function whyKept({ replaceable }: Incoming, vacant: boolean, needing: string | null): string {
  if (!replaceable) return "";
  if (!vacant) return " Actors stand on it, so it is not replaced.";
  return ` The migration rule ${needing} needs it, so it is not replaced.`;
}

function advice(parts: readonly string[], { id, parentId }: Incoming): string {
  if (parts.length === 1 && parts[0] === "rule") {
    return `A deploy is not changed: POST /v1/migrations from ${parentId} to ${id} makes another rule, also in place of one.`;
  }
  return `A definition never changes: deploy this one under a new id, with parentId "${id}" if it follows from it.`;
}

function difference(db: Db, present: DefinitionRow, incoming: Incoming, part: string): JsonValue {
  if (part === "parentId") return { deployed: present.parent_id, sent: incoming.parentId };
  if (part === "rule") {
    const written = ruleOfDeploy(db, present.id);
    const deployed = written && (JSON.parse(written.body) as JsonValue);
    return { deployed, sent: incoming.rule as unknown as JsonValue };
  }
  const before = JSON.parse(findBody(db, present.hash) ?? "{}") as JsonObject;
  const diff = diffDefinitions(before, incoming.definition) as unknown as JsonObject;
  return { members: membersThatDiffer(before, incoming.definition), ...diff };
}

function membersThatDiffer(before: JsonObject, after: JsonObject): string[] {
  // Wrapped, so that the order of states counts here as it does for the whole.
  const text = (definition: JsonObject, name: string) =>
    canonicalDefinition({ [name]: definition[name] ?? null });
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => text(before, name) !== text(after, name));
}
