import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { StateValue } from "../machine/types.ts";
import type { Move } from "../migration/rule.ts";
import type { Notice, WebhookEvent } from "../webhooks/rpc.ts";
import { activityNotices, tellsOfActivities } from "./activity-notices.ts";
import type { Told } from "./activity-notices.ts";
import type { ActorStatus, LogRecord, RecordKind } from "./types.ts";

/** What of an actor stays the same over its records. */
export interface Subject {
  uid: string;
  id: string;
  family: string;
}

/** Where an actor stood before a record. */
export interface Standing {
  stateValue: StateValue;
  status: ActorStatus;
  definitionId: string;
  tags: JsonValue;
}

/** Records that are told as such, whatever else they changed. A move that was refused is none. */
const OF_KIND: Partial<Record<RecordKind, WebhookEvent>> = {
  spawned: "actor.spawned",
  adopted: "actor.spawned",
  migrated: "actor.migrated",
};

const OF_STATUS: Partial<Record<ActorStatus, WebhookEvent>> = {
  done: "actor.done",
  error: "actor.error",
  stranded: "actor.stranded",
};

/** Records without a step of the machine say no status; these are the kinds that change it. */
const STATUS_OF_KIND: Partial<Record<RecordKind, ActorStatus>> = {
  paused: "paused",
  resumed: "active",
  terminated: "terminated",
};

/** Where an actor stands after a record. `before`: null for its first. */
export function standingAfter(before: Standing | null, record: LogRecord): Standing {
  const { outcome, definitionId, tags } = record.result ?? {};
  const status = outcome === "stranded" ? outcome : record.result?.["status"];
  return {
    stateValue: record.stateValue,
    status: (STATUS_OF_KIND[record.kind] ?? status ?? before?.status ?? "active") as ActorStatus,
    definitionId: (definitionId ?? before?.definitionId ?? "") as string,
    tags: tags ?? before?.tags ?? [],
  };
}

/** What a record gives to tell, in the order it happened; ids are `uid:seq:n`. */
export function noticesOf(subject: Subject, before: Standing | null, record: LogRecord): Notice[] {
  const after = standingAfter(before, record);
  const told: Told[] = [];
  const kind = kindOf(record);
  if (kind !== undefined) told.push({ type: kind, more: moveOf(record) });
  told.push(...activityNotices(subject.uid, record));
  for (const event of record.emitted) told.push({ type: "emit", more: { emitted: event } });
  if (before !== null && !sameStateValue(before.stateValue, after.stateValue)) {
    const more = { previousStateValue: before.stateValue };
    told.push({ type: "actor.state_changed", more });
  }
  const end = endOf(before, after, record);
  if (end !== undefined) told.push({ type: end, more: detailsOf(record) });
  if (told.length === 0) return [];
  const common = commonOf(dataOf(subject, after, record));
  return told.map(({ type, more }, n) => ({
    id: `${subject.uid}:${record.seq}:${n}`,
    type,
    at: record.at,
    data: bounded(common, more),
  }));
}

/** Whether a record gives anything to tell, without saying it. */
export function isTold(before: Standing | null, record: LogRecord): boolean {
  if (kindOf(record) !== undefined || record.emitted.length > 0 || before === null) return true;
  if (tellsOfActivities(record)) return true;
  if (!sameStateValue(before.stateValue, record.stateValue)) return true;
  return endOf(before, standingAfter(before, record), record) !== undefined;
}

function kindOf({ kind, error }: LogRecord): WebhookEvent | undefined {
  return kind === "migrated" && error !== null ? undefined : OF_KIND[kind];
}

/** Who moved the actor, from where to where. */
function moveOf({ kind, payload }: LogRecord): JsonObject {
  if (kind !== "migrated") return {};
  const { ruleId, from, to } = payload as unknown as Move;
  return { ruleId, from, to };
}

/** A step that failed without a caller is told as an error too, though the actor lives on and can be retried. */
function endOf(
  before: Standing | null,
  after: Standing,
  record: LogRecord,
): WebhookEvent | undefined {
  if (record.error !== null && record.error.code !== "unmappable") return "actor.error";
  return after.status === before?.status ? undefined : OF_STATUS[after.status];
}

function sameStateValue(one: StateValue, other: StateValue): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}

function detailsOf({ result, error }: LogRecord): JsonObject {
  const { output, error: fault } = result ?? {};
  return {
    ...(output === undefined ? {} : { output }),
    ...(fault === undefined ? {} : { error: fault }),
    ...(error === null ? {} : { error: { ...error } }),
  };
}

function dataOf(subject: Subject, after: Standing, record: LogRecord): JsonObject {
  return {
    actorId: subject.id,
    uid: subject.uid,
    definitionId: after.definitionId,
    family: subject.family,
    seq: record.seq,
    kind: record.kind,
    eventType: record.type,
    stateValue: after.stateValue,
    status: after.status,
    tags: after.tags,
  };
}

/** What all notices of a record have, and its bytes of JSON: a step may emit tens of thousands of events. */
interface Common {
  data: JsonObject;
  bytes: number;
  omitted: readonly string[];
}

function commonOf(whole: JsonObject): Common {
  const data: Record<string, JsonValue> = { ...whole };
  const omitted: string[] = [];
  for (const name of ["stateValue", "tags"]) {
    if (sizeOf({ ...data, omitted }) <= LIMITS.noticeBytes) break;
    delete data[name];
    omitted.push(name);
  }
  return { data, bytes: sizeOf(data), omitted };
}

/** Leaves out, and names, what would make a message too long: the log has it all. */
function bounded({ data, bytes, omitted: missing }: Common, more: JsonObject): JsonObject {
  // Two objects that become one share their braces for a comma.
  if (missing.length === 0 && bytes + sizeOf(more) - 1 <= LIMITS.noticeBytes) {
    return { ...data, ...more };
  }
  const kept: Record<string, JsonValue> = {};
  const omitted = [...missing];
  for (const [name, value] of Object.entries(more)) {
    const present = { ...kept, [name]: value, omitted: [...omitted, ...Object.keys(more)] };
    if (bytes + sizeOf(present) - 1 <= LIMITS.noticeBytes) kept[name] = value;
    else omitted.push(name);
  }
  return { ...data, ...kept, ...(omitted.length === 0 ? {} : { omitted }) };
}

const encoder = new TextEncoder();

function sizeOf(data: JsonObject): number {
  return encoder.encode(JSON.stringify(data)).byteLength;
}
