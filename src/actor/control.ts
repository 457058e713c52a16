import type { Input } from "../lifecycle/input.ts";
import type { ActorStatus } from "../lifecycle/types.ts";
import { actorView } from "../lifecycle/view.ts";
import { refuseSeq, refuseStatus, refuseUnexpected } from "./guards.ts";
import { machinesToRepeat, repeat } from "./repeat.ts";
import { answer, noSuchActor, refuse, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { ActorRpc, ControlCommand, Reply } from "./rpc.ts";
import type { Work } from "./work.ts";

/** At which status an action is understood. Where it changes nothing it is recorded all the same: its key is bound to it. */
const ACTIONS = {
  // A stranded actor does nothing anyway, and a resume would take it back into service as it is.
  pause: { kind: "paused", from: ["active", "paused"] },
  resume: { kind: "resumed", from: ["paused", "active"] },
  terminate: { kind: "terminated", from: ["active", "paused", "stranded"] },
} as const satisfies Record<string, { kind: string; from: readonly ActorStatus[] }>;

/** Pause, resume, terminate, retry. */
export async function control(resident: Resident, command: ControlCommand): Promise<Reply> {
  await resident.load();
  const then = machinesToRepeat(resident, command.keyed);
  const machines = then && (await then);
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(command.id);
  const first = repeat(resident, actor, command.keyed, machines);
  if (first) return first;

  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const refusal =
    refuseUnexpected(work.actor.envelope, command) ??
    refuseSeq(work.actor.envelope, command.keyed.ifMatch) ??
    act(work, command, now);
  if (work.changed) resident.commit(work.actor, work.records);
  if (refusal) return refusal;
  const { envelope } = work.actor;
  return answer(200, actorView(work.actor, work.now(Date.now())), envelope.seq);
}

function act(work: Work, command: ControlCommand, now: number): (Reply & { ok: false }) | null {
  const { action, reason, item } = command;
  const { status } = work.actor.envelope;
  let input: Input;
  if (action === "retry") {
    const refusal = refuseStatus(work.actor, ["active"]);
    if (refusal) return refusal;
    const items = work.actor.envelope.parked
      .map(({ timer }) => timer.id)
      .filter((id) => item === null || id === item);
    if (items.length === 0) {
      const what = item === null ? "Nothing" : `No item '${item}'`;
      return refuse("nothing_to_retry", `${what} is parked in the actor '${command.id}'.`);
    }
    input = { kind: "retried", items };
  } else {
    const { kind, from } = ACTIONS[action];
    // There is no way back that a late repeat could undo.
    if (kind === "terminated" && status === "terminated") return null;
    const refusal = refuseStatus(work.actor, from);
    if (refusal) return refusal;
    input = { kind, reason };
  }
  const { key, request, by, principal } = command.keyed;
  const outcome = work.try(input, now, { key, request, by, principal });
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  // What was kept back while paused, or is tried again, is due.
  work.fireDue(now);
  work.amend(outcome.record, { actorSeq: work.actor.envelope.seq });
  return null;
}

export async function setRefs(
  resident: Resident,
  command: Parameters<ActorRpc["setRefs"]>[0],
): Promise<Reply> {
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(command.id);
  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.begin(now);
  const { envelope } = work.actor;
  const refusal =
    refuseUnexpected(envelope, command) ??
    refuseSeq(envelope, command.ifMatch) ??
    changeRefs(work, command, now);
  if (work.changed) resident.commit(work.actor, work.records);
  if (refusal) return refusal;
  return answer(200, actorView(work.actor, work.now(Date.now())), work.actor.envelope.seq);
}

function changeRefs(
  work: Work,
  { refs, principal }: Parameters<ActorRpc["setRefs"]>[0],
  now: number,
): (Reply & { ok: false }) | null {
  const origin = { key: null, request: null, by: null, principal };
  const outcome = work.try({ kind: "refs_changed", refs }, now, origin);
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  return null;
}
