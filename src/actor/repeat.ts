import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { wake } from "../lifecycle/actor.ts";
import { decodeEnvelope } from "../lifecycle/envelope.ts";
import { eventAnswer } from "../lifecycle/record.ts";
import { Replay } from "../lifecycle/replay.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { actorView } from "../lifecycle/view.ts";
import { readRows } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { actorTables } from "../storage/actor-schema.ts";
import { checkpointBefore } from "../storage/actor-snapshot.ts";
import { answer, refuse } from "./replies.ts";
import { recordOf } from "./resident.ts";
import type { Resident } from "./resident.ts";
import type { Keyed, Reply } from "./rpc.ts";

/** The first answer to a keyed call again, or the refusal of another request under its key; null for a new key. */
export function repeat(resident: Resident, actor: Actor, keyed: Keyed): Reply | null {
  const row = resident.keys.find(keyed.key);
  return row === null ? null : repeatRow(resident, actor, keyed, row);
}

export function repeatRow(resident: Resident, actor: Actor, keyed: Keyed, row: RecordRow): Reply {
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
      return answer(200, eventAnswer(actor.envelope.id, record), record.seq, true);
    case "scheduled":
      return answer(201, scheduledAnswer(record), record.seq, true);
    default: {
      const born = record.kind === "spawned" || record.kind === "adopted";
      const seq = answeredAt(record);
      const then = actorAt(resident, actor, seq);
      return answer(born ? 201 : 200, actorView(then, then.envelope.at), seq, true);
    }
  }
}

export function scheduledAnswer(record: LogRecord): { timerId: string; dueAt: string } {
  const { timerId, dueAt } = record.result as { timerId: string; dueAt: number };
  return { timerId, dueAt: isoTime(dueAt) };
}

/** A control call answers with the actor after all that it set in motion, which its record says. */
function answeredAt(record: LogRecord): number {
  return (record.result?.["actorSeq"] as number | undefined) ?? record.seq;
}

/** The actor as it was after record `seq`: the checkpoint before it, and the records since. */
export function actorAt(resident: Resident, present: Actor, seq: number): Actor {
  const { envelope, machine } = present;
  if (seq === envelope.seq) return present;
  const { db } = resident;
  const checkpoint = actorTables(db).sealed ? checkpointBefore(db, seq) : null;
  const from = checkpoint === null ? null : wake(decodeEnvelope(checkpoint), machine);
  const replay = new Replay(envelope, machine, { from });
  for (let after = from?.envelope.seq ?? 0; after < seq;) {
    const rows = readRows(db, {
      after,
      through: seq,
      kind: null,
      limit: 100,
      chars: LIMITS.pageBytes,
    });
    const divergence = replay.run(rows.map(recordOf));
    if (divergence) {
      throw new Error(`Record ${divergence.seq} of the actor does not replay as it was recorded.`);
    }
    after = (rows.at(-1) as RecordRow).seq;
  }
  return replay.actor as Actor;
}
