import { refuse } from "../base/errors.ts";
import { hexOf } from "../base/hex.ts";
import { logError } from "../base/log.ts";
import type { Reply } from "../base/reply.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { beginActor } from "../lifecycle/birth.ts";
import type { Birth } from "../lifecycle/input.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { actorView } from "../lifecycle/view.ts";
import { acquireMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import type { AcquiredMachine } from "../registry/definition-cache.ts";
import { readRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { hasTombstone, lastDeletion } from "../storage/tombstones.ts";
import { vanished } from "./erase.ts";
import { livedElsewhere, machinesAt } from "./past.ts";
import type { Machines } from "./past.ts";
import { answeredAt, repeatRow } from "./repeat.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Reporter } from "./reporter.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { SpawnCommand } from "./rpc.ts";

/**
 * Begins an actor, or answers the repeat of the call that did. Either way the directory has its entry before the
 * answer; where it cannot be told, the actor lives, and the same request again finds it.
 */
export async function spawn(
  resident: Resident,
  reporter: Reporter | null,
  command: SpawnCommand,
): Promise<Reply> {
  const reply = await begin(resident, reporter, command);
  if (!reply.ok || reporter === null) return reply;
  try {
    await reporter.makeSure({ again: false });
    return reply;
  } catch (error) {
    logError("warn", error, { during: "spawn" });
    return refuse(
      "unavailable",
      `The actor '${command.id}' was spawned, but the directory could not be told yet. Send the same request again, with the same Idempotency-Key.`,
    );
  }
}

async function begin(
  resident: Resident,
  reporter: Reporter | null,
  command: SpawnCommand,
): Promise<Reply> {
  const { tenant, id, keyed, definitionId } = command;
  await resident.load();
  const keyHash = await sha256Hex(keyed.key);
  const machines = await machinesToRepeatSpawn(resident);
  const earlier = earlierLife(resident, command, keyHash, machines);
  if (earlier) return earlier;
  reporter?.prepare(tenant);
  const registry = definitionSource(resident.env.REGISTRY, tenant);
  const reply = await acquireMachine(registry, tenant, definitionId);
  if (!reply.ok) return reply;
  const { acquired } = reply;
  // A deletion of the last actor of this id that has begun is ended first.
  if (resident.gone !== null) await vanished(resident);
  await resident.readyToBegin(tenant, acquired.id);
  if (resident.gone !== null) {
    return refuse(
      "unavailable",
      `The actor that had the id '${id}' is still being deleted; send the same request again in a moment, or choose another id.`,
    );
  }
  // Other calls may have spawned it, and even deleted it again, while this one waited.
  const meanwhile = earlierLife(resident, command, keyHash, null);
  if (meanwhile) return meanwhile;

  const { by, principal, key, request } = keyed;
  const origin = { key, request, by, principal };
  const birth = birthOf(command, acquired);
  const at = birthTime(resident);
  const address = { tenant, id };
  const born = beginActor(address, acquired.machine, birth, at, origin, resident.epoch);
  if (!born.ok) return refuseFault(born.fault);
  const work = resident.work(born.actor, born.record);
  work.point(at);
  const { actor } = work;
  const { seq } = actor.envelope;
  if (seq > 1) work.amend(born.record, { ...born.record.result, actorSeq: seq });
  resident.commit(actor, work.records);
  return answer(201, spawnAnswer(actor, born.record), seq);
}

/** After the death of who had the id before, whatever clocks say: the directory goes by the time of birth. */
function birthTime({ db, tombstones }: Resident): number {
  const last = tombstones ? lastDeletion(db) : null;
  return Math.max(Date.now(), last === null ? 0 : last + 1);
}

function birthOf(command: SpawnCommand, { id, hash }: AcquiredMachine): Birth {
  const { definitionId, input, context, refs, snapshot, parent } = command;
  return {
    uid: randomUid(),
    definitionId: id,
    definitionHash: hash,
    ...(id === definitionId ? {} : { requestedAs: definitionId }),
    ...(input === undefined ? {} : { input }),
    ...(context === undefined ? {} : { context }),
    ...(refs === undefined ? {} : { refs }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(parent === undefined ? {} : { parent }),
  };
}

/** The answer where the actor lives already, or where this key's actor was deleted; else null. */
function earlierLife(
  resident: Resident,
  command: SpawnCommand,
  keyHash: string,
  machines: Machines | null,
): Reply | null {
  const { db, actor } = resident;
  if (resident.tombstones && hasTombstone(db, keyHash)) {
    return refuse(
      "actor_deleted",
      `The actor '${command.id}' that this Idempotency-Key spawned was deleted; take a new key to spawn another.`,
    );
  }
  return actor && spawned(resident, actor, command, machines);
}

function machinesToRepeatSpawn(resident: Resident): Promise<Machines> | null {
  const { actor } = resident;
  if (actor === null || !livedElsewhere(actor.envelope)) return null;
  return machinesAt(resident, answeredAt(recordOf(readRow(resident.db, 1) as RecordRow)));
}

function spawned(
  resident: Resident,
  actor: Actor,
  { id, keyed }: SpawnCommand,
  machines: Machines | null,
): Reply {
  const first = readRow(resident.db, 1) as RecordRow;
  if (first.key === keyed.key) {
    const reply = repeatRow(resident, actor, keyed, first, machines);
    if (!reply.ok) return reply;
    const { requestedAs } = JSON.parse(first.body).payload as Birth;
    return requestedAs === undefined
      ? reply
      : { ...reply, body: { ...(reply.body as object), requestedAs } };
  }
  return refuse(
    "actor_exists",
    `The id '${id}' belongs to an actor that another call spawned; choose another id, or none.`,
  );
}

function spawnAnswer(actor: Actor, record: LogRecord): ReturnType<typeof actorView> {
  const { requestedAs } = record.payload as { requestedAs?: string };
  const view = actorView(actor, actor.envelope.at);
  return requestedAs === undefined ? view : { ...view, requestedAs };
}

/** 128 random bits, 32 hex digits. */
function randomUid(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}
