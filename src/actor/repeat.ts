import { refuse } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { eventAnswer } from "../lifecycle/record.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { actorView } from "../lifecycle/view.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { actorAt, livedElsewhere, machinesAt } from "./past.ts";
import type { Machines } from "./past.ts";
import { answer } from "./replies.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { Keyed } from "./rpc.ts";

/**
 * The first answer to a keyed call again, or the refusal of another request under its key; null for a new key.
 * `machines`: what `machinesToRepeat` answered; calls that are not answered with the actor need none.
 */
export function repeat(
  resident: Resident,
  actor: Actor,
  keyed: Keyed,
  machines: Machines | null = null,
): Reply | null {
  const row = resident.keys.find(keyed.key);
  return row === null ? null : repeatRow(resident, actor, keyed, row, machines);
}

/** To be awaited before a repeat is answered with the actor as it was then; null for a new key, and where it is all here. */
export function machinesToRepeat(resident: Resident, { key }: Keyed): Promise<Machines> | null {
  const { actor } = resident;
  if (actor === null || !livedElsewhere(actor.envelope)) return null;
  const row = resident.keys.find(key);
  return row === null ? null : machinesAt(resident, answeredAt(recordOf(row)));
}

export function repeatRow(
  resident: Resident,
  actor: Actor,
  keyed: Keyed,
  row: RecordRow,
  machines: Machines | null,
): Reply {
  if (row.request !== keyed.request) {
    return refuse(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request; send the first request unchanged, or take a new key.",
    );
  }
  resident.countReplay();
  const record = recordOf(row);
  switch (record.kind) {
    case "event":
      return eventReply(actor.envelope.id, record, true);
    case "scheduled":
      return answer(201, scheduledAnswer(record), record.seq, true);
    default: {
      const born = record.kind === "spawned" || record.kind === "adopted";
      const seq = answeredAt(record);
      const then = actorAt(resident, actor, seq, machines);
      return answer(born ? 201 : 200, actorView(then, then.envelope.at), seq, true);
    }
  }
}

/** `seq` is that of the last record which the answer knows of. */
export function eventReply(id: string, record: LogRecord, replayed = false): Reply {
  const body = eventAnswer(id, record);
  return answer(200, body, body["actorSeq"] as number, replayed);
}

export function scheduledAnswer(record: LogRecord): { timerId: string; dueAt: string } {
  const { timerId, dueAt } = record.result as { timerId: string; dueAt: number };
  return { timerId, dueAt: isoTime(dueAt) };
}

/** A control call answers with the actor after all that it set in motion, which its record says. */
export function answeredAt(record: LogRecord): number {
  return (record.result?.["actorSeq"] as number | undefined) ?? record.seq;
}
