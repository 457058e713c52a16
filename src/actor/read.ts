import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { recordView } from "../lifecycle/record.ts";
import { actorView } from "../lifecycle/view.ts";
import { definitionRows, readRows, stateRows } from "../storage/actor-log.ts";
import type { RecordRow, StateRow } from "../storage/actor-log.ts";
import { refuseUnexpected, refuseUnreachable } from "./guards.ts";
import { Machines, actorAt, machinesAt } from "./past.ts";
import { answer, noSuchActor, refuse } from "./replies.ts";
import { presentView } from "./present-view.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { Address, LogQuery, Reply, WaitQuery } from "./rpc.ts";

/** The actor now, or as it was after a record. */
export async function read(
  resident: Resident,
  query: Address & { at: number | null },
): Promise<Reply> {
  const { id, at } = query;
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const { envelope } = actor;
  if (at === null) {
    return answer(200, presentView(resident, actor), envelope.seq);
  }
  if (at < 1 || at > envelope.seq) {
    const detail = `The actor '${id}' has records 1 to ${envelope.seq}; there is no ${at}.`;
    return refuse("record_not_found", detail);
  }
  const others = machinesAt(resident, at);
  const machines = others && (await others);
  if (resident.actor?.envelope.uid !== envelope.uid) return noSuchActor(id);
  const then = actorAt(resident, resident.actor, at, machines);
  return answer(200, actorView(then, then.envelope.at), at);
}

export async function log(resident: Resident, query: LogQuery): Promise<Reply> {
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(query.id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const { after, limit, kind } = query;
  const through = actor.envelope.seq;
  const rows = readRows(resident.db, {
    after,
    through,
    kind,
    limit: limit + 1,
    chars: LIMITS.pageBytes,
  });
  return answer(
    200,
    page(rows, limit, through, (row) => recordView(recordOf(row))),
    through,
  );
}

export async function exportHead(resident: Resident, query: Address): Promise<Reply> {
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(query.id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const { envelope } = actor;
  // All that it has been on, in that order: its log is lived again on these.
  const lived = new Map(
    definitionRows(resident.db, 0, envelope.seq).map((row) => [row.hash, row] as const),
  );
  const machines = new Machines(resident, actor);
  await machines.load([...lived.values()]);
  const definitions = [...lived.values()].map(({ id, hash }) => {
    return { id, hash, definition: machines.get(hash).definition };
  });
  const outbox = resident.outbox as unknown as JsonValue;
  const body = { envelope: envelope as unknown as JsonObject, outbox, definitions };
  return answer(200, body, envelope.seq);
}

export async function exportLog(
  resident: Resident,
  query: Address & { uid: string; after: number; through: number },
): Promise<Reply> {
  const { id, uid, after, through } = query;
  await resident.load();
  const { actor } = resident;
  if (actor === null || actor.envelope.uid !== uid) return noSuchActor(id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const limit = LIMITS.pageMost;
  const rows = readRows(resident.db, {
    after,
    through,
    kind: null,
    limit: limit + 1,
    chars: LIMITS.pageBytes,
  });
  const body = page(rows, limit, through, (row) => recordOf(row) as unknown as JsonObject);
  return answer(200, body, through);
}

/** A page is full by its items or by its size; `nextAfter` says where the next one begins. */
function page(
  rows: RecordRow[],
  limit: number,
  through: number,
  show: (row: RecordRow) => JsonObject,
): JsonObject {
  const items = rows.slice(0, limit);
  const last = items.at(-1)?.seq ?? through;
  const more = rows.length > limit || last < through;
  return { items: items.map(show), nextAfter: more && items.length > 0 ? last : null };
}

interface Stay {
  /** JSON of the state value. */
  state: string;
  entered: StateRow;
  left: StateRow | null;
}

function stayView({ state, entered, left }: Stay): JsonObject {
  return {
    state: JSON.parse(state) as JsonValue,
    enteredAt: isoTime(entered.at),
    enteredSeq: entered.seq,
    leftAt: left && isoTime(left.at),
    leftSeq: left && left.seq,
    durationMs: left && left.at - entered.at,
    by: entered.type ?? entered.kind,
  };
}

/** The states it stood in, one after the other; the present one has no end yet. */
export async function timeline(
  resident: Resident,
  query: Address & { after: number; limit: number },
): Promise<Reply> {
  const { id, after, limit } = query;
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const stays: Stay[] = [];
  let nextAfter: number | null = null;
  for (const row of stateRows(resident.db, after)) {
    const last = stays.at(-1);
    if (last?.state === row.state) continue;
    if (last) last.left = row;
    if (stays.length === limit) {
      nextAfter = row.seq - 1;
      break;
    }
    stays.push({ state: row.state, entered: row, left: null });
  }
  const items = stays.map(stayView);
  return answer(200, { items, nextAfter }, actor.envelope.seq);
}

export async function wait(resident: Resident, query: WaitQuery): Promise<Reply> {
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(query.id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const unreachable = refuseUnreachable(actor, query.until);
  if (unreachable) return unreachable;
  if (resident.waiters.full) {
    const detail = `${LIMITS.waitersPerActor} callers wait on this actor already (limit waitersPerActor).`;
    return refuse("rate_limited", detail);
  }
  const reason = await resident.waiters.until(actor, query.until, query.timeoutMs);
  const present = resident.actor;
  if (present === null) return noSuchActor(query.id);
  const { envelope } = present;
  const view = presentView(resident, present);
  return answer(200, { matched: reason === "matched", reason, actor: view }, envelope.seq);
}
