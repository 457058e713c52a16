import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import type { Input } from "../lifecycle/input.ts";
import { retriable, retryFault } from "../lifecycle/retry.ts";
import type { ActorStatus } from "../lifecycle/types.ts";
import { refuseSeq, refuseStatus, refuseUnexpected } from "./guards.ts";
import { NO_NEEDS, keyedChange } from "./keyed-change.ts";
import { presentView } from "./present-view.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { ActorRpc, ControlCommand } from "./rpc.ts";
import type { Work } from "./work.ts";

/** At which status an action is understood. Where it changes nothing it is recorded all the same: its key is bound to it. */
const ACTIONS = {
  // A stranded actor does nothing anyway, and a resume would take it back into service as it is.
  pause: { kind: "paused", from: ["active", "paused"] },
  resume: { kind: "resumed", from: ["paused", "active"] },
  terminate: { kind: "terminated", from: ["active", "paused", "stranded"] },
} as const satisfies Record<string, { kind: string; from: readonly ActorStatus[] }>;

/** Pause, resume, terminate, retry. */
export function control(resident: Resident, command: ControlCommand): Promise<Reply> {
  return keyedChange(resident, command, NO_NEEDS, (work, now) => act(work, command, now));
}

function act(work: Work, command: ControlCommand, now: number): Advanced | Refused | null {
  const { action, reason, item } = command;
  const { status } = work.actor.envelope;
  let input: Input;
  if (action === "retry") {
    // One that has ended can still undo, and tell others, what it could not before.
    const refusal = refuseStatus(work.actor, ["active", "done", "error", "terminated"]);
    if (refusal) return refusal;
    const items = retriable(work.actor.envelope, item);
    if (items.length === 0) {
      const what = item === null ? "Nothing" : `Nothing named '${item}'`;
      const nothing = `${what} has failed and waits in the actor '${command.id}'.`;
      return refuseStatus(work.actor) ?? refuse("nothing_to_retry", nothing);
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
  const advanced = work.try(input, now, { key, request, by, principal });
  if (input.kind !== "retried" || !advanced.ok) return advanced;
  const fault = retryFault(work.actor.envelope, advanced.actor.envelope);
  return fault === null ? advanced : { ok: false, fault };
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
  work.point(now);
  const { envelope } = work.actor;
  const refusal =
    refuseUnexpected(envelope, command) ??
    refuseSeq(envelope, command.ifMatch) ??
    changeRefs(work, command, now);
  resident.end(work);
  if (refusal) return refusal;
  return answer(200, presentView(resident, work.actor), work.actor.envelope.seq);
}

function changeRefs(
  work: Work,
  { refs, principal }: Parameters<ActorRpc["setRefs"]>[0],
  now: number,
): Refused | null {
  const origin = { key: null, request: null, by: null, principal };
  const outcome = work.try({ kind: "refs_changed", refs }, now, origin);
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  return null;
}
