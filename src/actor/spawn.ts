import { sha256Hex } from "../base/sha256.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { beginActor } from "../lifecycle/birth.ts";
import type { Birth } from "../lifecycle/input.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { actorView } from "../lifecycle/view.ts";
import { acquireMachine } from "../registry/definition-cache.ts";
import type { AcquiredMachine } from "../registry/definition-cache.ts";
import { readRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { hasTombstone } from "../storage/tombstones.ts";
import { repeatRow } from "./repeat.ts";
import { answer, refuse, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Reply, SpawnCommand } from "./rpc.ts";

/** Begins an actor, or answers the repeat of the call that did. */
export async function spawn(resident: Resident, command: SpawnCommand): Promise<Reply> {
  const { tenant, id, keyed, definitionId } = command;
  await resident.load();
  const keyHash = await sha256Hex(keyed.key);
  const earlier = earlierLife(resident, command, keyHash);
  if (earlier) return earlier;
  const registry = resident.env.REGISTRY.getByName(tenant);
  const reply = await acquireMachine(registry, tenant, definitionId);
  if (!reply.ok) return reply;
  // Other calls may have spawned it, and even deleted it again, while this one asked the registry.
  const meanwhile = earlierLife(resident, command, keyHash);
  if (meanwhile) return meanwhile;

  const { acquired } = reply;
  const { machine } = acquired;
  const { by, principal, key, request } = keyed;
  const origin = { key, request, by, principal };
  const born = beginActor({ tenant, id }, machine, birthOf(command, acquired), Date.now(), origin);
  if (!born.ok) return refuseFault(born.fault);
  resident.commit(born.actor, [born.record]);
  return answer(201, spawnAnswer(born.actor, born.record), 1);
}

function birthOf(command: SpawnCommand, { id, hash }: AcquiredMachine): Birth {
  const { definitionId, input, context, refs, snapshot } = command;
  return {
    uid: randomUid(),
    definitionId: id,
    definitionHash: hash,
    ...(id === definitionId ? {} : { requestedAs: definitionId }),
    ...(input === undefined ? {} : { input }),
    ...(context === undefined ? {} : { context }),
    ...(refs === undefined ? {} : { refs }),
    ...(snapshot === undefined ? {} : { snapshot }),
  };
}

/** The answer where the actor lives already, or where this key's actor was deleted; else null. */
function earlierLife(resident: Resident, command: SpawnCommand, keyHash: string): Reply | null {
  const { db, actor } = resident;
  if (resident.tombstones && hasTombstone(db, keyHash)) {
    return refuse(
      "actor_deleted",
      `The actor '${command.id}' that this Idempotency-Key spawned was deleted; take a new key to spawn another.`,
    );
  }
  return actor && spawned(resident, actor, command);
}

function spawned(resident: Resident, actor: Actor, { id, keyed }: SpawnCommand): Reply {
  const first = readRow(resident.db, 1) as RecordRow;
  if (first.key === keyed.key) {
    const reply = repeatRow(resident, actor, keyed, first);
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
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
