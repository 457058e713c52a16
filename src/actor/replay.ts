import { LIMITS } from "../base/limits.ts";
import type { JsonObject } from "../base/json.ts";
import { othersTurn } from "../base/pause.ts";
import { envelopesDiffer } from "../lifecycle/envelope.ts";
import { Replay } from "../lifecycle/replay.ts";
import type { Divergence } from "../lifecycle/replay.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { resolveMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { readRows } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor, refuse } from "./replies.ts";
import { recordOf } from "./resident.ts";
import type { Resident } from "./resident.ts";
import type { Address, Reply } from "./rpc.ts";

/** Records replayed before other calls get their turn. */
const CHUNK = 200;

/** Lives the whole log again and compares; with another definition, asks whether this history would have run on it. */
export async function replayLog(
  resident: Resident,
  query: Address & { definitionId: string | null },
): Promise<Reply> {
  await resident.load();
  const { actor } = resident;
  if (actor === null) return noSuchActor(query.id);
  const refusal = refuseUnexpected(actor.envelope, query);
  if (refusal) return refusal;
  let { machine } = actor;
  const onOther = query.definitionId !== null && query.definitionId !== actor.envelope.definitionId;
  if (onOther) {
    const registry = definitionSource(resident.env.REGISTRY, query.tenant);
    const other = await resolveMachine(registry, query.definitionId as string);
    if (other === null) {
      const detail = `There is no definition '${query.definitionId}'; deploy it first.`;
      return refuse("definition_not_found", detail);
    }
    machine = other.machine;
  }
  const replay = new Replay(actor.envelope, machine, { onOther });
  const outcome = await runAll(resident, replay, actor);
  if (outcome === "erased") return noSuchActor(query.id);
  const divergence = outcome ?? (onOther ? null : compareEnds(actor, replay.actor as Actor));
  const body = divergence
    ? { identical: false, firstDivergence: divergence as unknown as JsonObject }
    : { identical: true };
  return answer(200, body, actor.envelope.seq);
}

async function runAll(
  resident: Resident,
  replay: Replay,
  { envelope: { uid, seq: through } }: Actor,
): Promise<Divergence | null | "erased"> {
  let after = 0;
  while (after < through) {
    if (resident.actor?.envelope.uid !== uid) return "erased";
    const range = { after, through, kind: null, limit: CHUNK, chars: LIMITS.pageBytes };
    const rows = readRows(resident.db, range);
    const divergence = replay.run(rows.map(recordOf));
    if (divergence) return divergence;
    after = (rows.at(-1) as RecordRow).seq;
    await othersTurn();
  }
  return null;
}

function compareEnds(actor: Actor, replayed: Actor): Divergence | null {
  const differ = envelopesDiffer(actor.envelope, replayed.envelope);
  return differ && { seq: actor.envelope.seq, ...differ };
}
