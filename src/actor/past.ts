import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { wake } from "../lifecycle/actor.ts";
import { decodeEnvelope } from "../lifecycle/envelope.ts";
import { Replay } from "../lifecycle/replay.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { getMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { definitionRows, readRow, readRows } from "../storage/actor-log.ts";
import type { DefinitionRow, RecordRow } from "../storage/actor-log.ts";
import { actorTables } from "../storage/actor-schema.ts";
import { checkpointBefore } from "../storage/actor-snapshot.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";

/** Machines by the hash of their definitions. What is loaded stays: it is held for one call. */
export class Machines {
  readonly #resident: Resident;
  readonly #present: Actor;
  readonly #loaded = new Map<string, CompiledMachine>();

  /** Knows that of `present`. */
  constructor(resident: Resident, present: Actor) {
    this.#resident = resident;
    this.#present = present;
  }

  get = (hash: string): CompiledMachine => {
    const { envelope, machine } = this.#present;
    const found = hash === envelope.definitionHash ? machine : this.#loaded.get(hash);
    if (found !== undefined) return found;
    throw new PerdureError("unavailable", "The actor was moved meanwhile; send it again.");
  };

  /** Whether all of these are here, so that nothing has to be awaited. */
  has(definitions: readonly Pick<DefinitionRow, "hash">[]): boolean {
    const { definitionHash } = this.#present.envelope;
    return definitions.every(({ hash }) => hash === definitionHash || this.#loaded.has(hash));
  }

  async load(definitions: readonly Pick<DefinitionRow, "id" | "hash">[]): Promise<void> {
    const { env } = this.#resident;
    const registry = definitionSource(env.REGISTRY, this.#present.envelope.tenant);
    for (const { id, hash } of definitions) {
      if (!this.has([{ hash }])) this.#loaded.set(hash, await getMachine(registry, hash, id));
    }
  }
}

/** Whether it may have been on another definition than that of now. */
export function livedElsewhere({ entered, moves }: Envelope): boolean {
  return entered.seq > 1 || moves.some(({ outcome }) => outcome === "rolled_back");
}

/**
 * The machines that `actorAt` needs to show an actor as it was after record `seq`; null when it needs no others than
 * the present one, and then a caller that has begun its turn need not end it.
 */
export function machinesAt(resident: Resident, seq: number): Promise<Machines> | null {
  const { actor, db } = resident;
  if (actor === null || seq === actor.envelope.seq || !livedElsewhere(actor.envelope)) return null;
  const from = beginning(resident, seq);
  const needed = definitionRows(db, from?.seq ?? 0, seq);
  if (from !== null) {
    needed.push({ seq: from.seq, id: from.definitionId, hash: from.definitionHash });
  }
  const machines = new Machines(resident, actor);
  return machines.load(needed).then(() => machines);
}

/** The checkpoint before record `seq`; null where the actor's birth is as near. */
function beginning({ db }: Resident, seq: number): Envelope | null {
  const checkpoint = actorTables(db).sealed ? checkpointBefore(db, seq) : null;
  return checkpoint === null ? null : decodeEnvelope(checkpoint);
}

/** The actor as it was after record `seq`: the checkpoint before it, and the records since. */
export function actorAt(
  resident: Resident,
  present: Actor,
  seq: number,
  machines: Machines | null,
): Actor {
  const { envelope, machine } = present;
  if (seq === envelope.seq) return present;
  const machineOf = (machines ?? new Machines(resident, present)).get;
  const { db } = resident;
  const first = beginning(resident, seq);
  const from = first === null ? null : wake(first, machineOf(first.definitionHash));
  const replay = new Replay(envelope, machine, { from, machineOf, recordAt: recordsOf(resident) });
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

/** Records by their number, for replays. */
export function recordsOf({ db }: Resident): (seq: number) => LogRecord {
  return (seq) => recordOf(readRow(db, seq) as RecordRow);
}
