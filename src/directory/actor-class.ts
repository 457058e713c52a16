import { canonicalJson } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import type { AttentionReason } from "../lifecycle/types.ts";
import type { ClassRow } from "../storage/directory-classes.ts";
import type { ActorClass } from "./rpc.ts";

/** Two classes are one exactly when their texts are equal. */
export function classText(actorClass: ActorClass): string {
  const { definitionId, family, status, stateValue, tags, attention } = actorClass;
  return canonicalJson([definitionId, family, status, stateValue as JsonValue, tags, attention]);
}

/** The same members and no others, with reasons in an order that does not depend on who wrote them. */
export function classOf(of: ActorClass): ActorClass {
  const { definitionId, family, status, stateValue } = of;
  return {
    definitionId,
    family,
    status,
    stateValue,
    tags: [...of.tags].sort(),
    attention: withReasons(of.attention),
  };
}

/** Without `timer_overdue`, which follows from the time. */
function withReasons(reasons: readonly AttentionReason[]): AttentionReason[] {
  return [...new Set(reasons)].filter((reason) => reason !== "timer_overdue").sort();
}

export function rowOfClass(n: number, actorClass: ActorClass): ClassRow {
  return {
    n,
    definition_id: actorClass.definitionId,
    family: actorClass.family,
    status: actorClass.status,
    state: canonicalJson(actorClass.stateValue as JsonValue),
    tags: JSON.stringify(actorClass.tags),
    attention: JSON.stringify(actorClass.attention),
  };
}

export function classOfRow(row: ClassRow): ActorClass {
  return {
    definitionId: row.definition_id,
    family: row.family,
    status: row.status as ActorClass["status"],
    stateValue: JSON.parse(row.state) as ActorClass["stateValue"],
    tags: JSON.parse(row.tags) as string[],
    attention: JSON.parse(row.attention) as AttentionReason[],
  };
}
