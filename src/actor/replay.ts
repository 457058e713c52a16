import { refuse } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { othersTurn } from "../base/pause.ts";
import type { Reply } from "../base/reply.ts";
import { envelopesDiffer } from "../lifecycle/envelope.ts";
import { Replay } from "../lifecycle/replay.ts";
import type { Divergence } from "../lifecycle/replay.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { compileDefinition } from "../machine/compile.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { resolveMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { definitionRows, readRows } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { actorMeant } from "./guards.ts";
import { Machines, livedElsewhere, recordsOf } from "./past.ts";
import { answer, noSuchActor } from "./replies.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/** Records replayed before other calls get their turn. */
const CHUNK = 200;

/** Lives the whole log again and compares; with another definition, asks whether this history would have run on it. */
export async function replayLog(
  resident: Resident,
  query: Address & { definitionId: string | null },
): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { definitionId } = query;
  const { envelope, machine } = actor;
  if (
    definitionId === null ||
    (definitionId === envelope.definitionId && !livedElsewhere(envelope))
  ) {
    return replayOwn(resident, actor);
  }
  if (definitionId === envelope.definitionId) return replayOn(resident, actor, machine);
  const registry = definitionSource(resident.env.REGISTRY, query.tenant);
  const other = await resolveMachine(registry, definitionId);
  if (other === null) {
    const detail = `There is no definition '${definitionId}'; deploy it first.`;
    return refuse("definition_not_found", detail);
  }
  return replayOn(resident, actor, other.machine);
}

/** The same on a definition that is not deployed, which the registry has checked. */
export async function tryOn(resident: Resident, query: Address & { json: string }): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const machine = compileDefinition(JSON.parse(query.json) as JsonObject);
  return replayOn(resident, actor, machine);
}

/** On the definitions that it has been on. */
async function replayOwn(resident: Resident, actor: Actor): Promise<Reply> {
  const machines = new Machines(resident, actor);
  const library = { machineOf: machines.get, recordAt: recordsOf(resident) };
  const replay = new Replay(actor.envelope, actor.machine, library);
  const outcome = await runAll(resident, replay, actor, machines);
  if (outcome === "erased") return noSuchActor(actor.envelope.id);
  return told(actor, outcome ?? compareEnds(actor, replay.actor as Actor));
}

async function replayOn(
  resident: Resident,
  actor: Actor,
  machine: CompiledMachine,
): Promise<Reply> {
  const replay = new Replay(actor.envelope, machine, { onOther: true });
  const outcome = await runAll(resident, replay, actor, null);
  if (outcome === "erased") return noSuchActor(actor.envelope.id);
  return told(actor, outcome);
}

function told({ envelope }: Actor, divergence: Divergence | null): Reply {
  const body = divergence
    ? { identical: false, firstDivergence: divergence as unknown as JsonObject }
    : { identical: true };
  return answer(200, body, envelope.seq);
}

async function runAll(
  resident: Resident,
  replay: Replay,
  { envelope: { uid, seq: through } }: Actor,
  machines: Machines | null,
): Promise<Divergence | null | "erased"> {
  let after = 0;
  while (after < through) {
    if (resident.actor?.envelope.uid !== uid) return "erased";
    const range = { after, through, kind: null, limit: CHUNK, chars: LIMITS.pageBytes };
    const rows = readRows(resident.db, range);
    const last = (rows.at(-1) as RecordRow).seq;
    if (machines !== null) {
      const needed = definitionRows(resident.db, after, last);
      if (!machines.has(needed)) {
        await machines.load(needed);
        if (resident.actor?.envelope.uid !== uid) return "erased";
      }
    }
    const divergence = replay.run(rows.map(recordOf));
    if (divergence) return divergence;
    after = last;
    await othersTurn();
  }
  return null;
}

function compareEnds(actor: Actor, replayed: Actor): Divergence | null {
  const differ = envelopesDiffer(actor.envelope, replayed.envelope);
  return differ && { seq: actor.envelope.seq, ...differ };
}
