import type { Reply } from "../base/reply.ts";
import type { ActorRpc, Address, Keyed, SendCommand } from "../actor/rpc.ts";
import { callObject } from "../base/call-object.ts";
import { ERRORS, PerdureError } from "../base/errors.ts";
import type { ErrorCode, Failure } from "../base/errors.ts";
import { actorObjectName } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { parseRef } from "../base/ref.ts";
import type { Ref } from "../base/ref.ts";
import { sha256Hex } from "../base/sha256.ts";
import { isoTime } from "../base/time.ts";
import type { DirectoryEnv } from "../directory/ask.ts";
import type { Env } from "../env.ts";
import { Deadline } from "./deadline.ts";
import { findTarget, nobodyHas } from "./target.ts";
import type { Target } from "./target.ts";
import type { CronSend, CronSpawn } from "./rpc.ts";

/** A slot that was begun, and what is to be done. */
export interface Run {
  tenant: string;
  id: string;
  generation: number;
  /** ms. */
  slot: number;
  principal: string;
  spawn: CronSpawn | null;
  send: CronSend | null;
  /** The actor that an earlier attempt was meant for; null when none was looked up. */
  target: Target | null;
}

/** What one attempt came to. `again`: it may go better later; `lost` when it may have been done all the same. */
export type Attempt =
  | {
      kind: "done";
      outcome: "succeeded" | "refused";
      actorId: string | null;
      seq: number | null;
      code: string | null;
      detail: string | null;
    }
  | { kind: "again"; code: string; detail: string; lost: boolean };

/** Where attempts write down whom they are for, before they call it. */
type Pin = (target: Target | null) => void;

type Objects = Pick<Env, "ACTORS"> & DirectoryEnv;

/**
 * The idempotency key of a slot, by which it happens once however often it is tried; it is the id of the actor
 * that it spawns, too.
 */
function slotKey({ id, generation, slot }: Pick<Run, "id" | "generation" | "slot">): string {
  return `schedule:${id}:${generation}:${isoTime(slot)}`;
}

/** One attempt. Never throws, and takes no longer than LIMITS.runAttemptMs. */
export async function attempt(env: Objects, run: Run, pin: Pin): Promise<Attempt> {
  let over = false;
  const deadline = new Deadline(LIMITS.runAttemptMs);
  const pinInTime: Pin = (target) => {
    // Others may be at it since: what comes late must neither write nor call.
    if (over) throw new Error("The attempt was given up");
    pin(target);
  };
  try {
    return await Promise.race([act(env, run, pinInTime), deadline.passed.then(late)]);
  } catch (error) {
    if (error instanceof PerdureError) return again(error.failure, true);
    logError("error", error, { during: "schedule" });
    return again({ code: "internal_error", detail: "Something failed on our side." }, true);
  } finally {
    over = true;
    deadline.cancel();
  }
}

function late(): Attempt {
  const detail = `There was no answer within ${LIMITS.runAttemptMs / 1_000} s.`;
  return again({ code: "unavailable", detail }, true);
}

async function act(env: Objects, run: Run, pin: Pin): Promise<Attempt> {
  const { tenant, spawn, send } = run;
  const keyed = await keyedOf(run);
  if (spawn) {
    const id = slotKey(run);
    const command = { tenant, id, keyed, ...spawn };
    return judge(id, await callActor(env, { tenant, id }, true, (actor) => actor.spawn(command)));
  }
  const { actorId, type, payload } = send as CronSend;
  const event = { keyed, type, payload: payload ?? null, strict: false, representation: false };
  const ref = parseRef(actorId);
  if (ref === null) {
    const address = { tenant, id: actorId };
    return judge(
      actorId,
      await callActor(env, address, true, (actor) => actor.send({ ...address, ...event })),
    );
  }

  return sendByRef(env, run, ref, event, pin);
}

/**
 * The actor is written down before it is called. While an earlier call to it may have been heard, no other actor is
 * looked up, so an event that a reference moves away from is not sent twice.
 */
async function sendByRef(
  env: Objects,
  run: Run,
  ref: Ref,
  event: Omit<SendCommand, keyof Address>,
  pin: Pin,
): Promise<Attempt> {
  const { tenant } = run;
  const found = run.target ?? (await findTarget(env, tenant, ref));
  if ("failure" in found) return refused(null, found.failure);
  pin(found);
  const address = { tenant, id: found.id, expect: { uid: found.uid, ref } };
  // Not repeated unseen: of a single call a refusal says for sure that nothing was done.
  const reply = await callActor(env, address, false, (actor) =>
    actor.send({ ...address, ...event }),
  );
  if (!reply.ok && isElsewhere(reply.failure.code, run.target === null)) {
    pin(null);
    return again(nobodyHas(ref), false);
  }
  return judge(found.id, reply);
}

/**
 * Whether the event may go to whoever has the reference now; the index is up to a second behind. An actor looks for
 * the key before it looks at its references, so one that lost the reference never had the event. One that is gone
 * may have had it, unless this was the first call.
 */
function isElsewhere(code: ErrorCode, first: boolean): boolean {
  return code === "ref_moved" || (first && code === "actor_not_found");
}

function callActor(
  env: Objects,
  { tenant, id }: Address,
  repeatable: boolean,
  call: (actor: ActorRpc) => Promise<Reply>,
): Promise<Reply> {
  return callObject(env.ACTORS, actorObjectName(tenant, id), repeatable, call);
}

async function keyedOf(run: Run): Promise<Keyed> {
  const key = slotKey(run);
  return {
    key,
    // The schedule of a generation never changes, so its slot says what the request is.
    request: await sha256Hex(key),
    ifMatch: null,
    by: `schedule:${run.id}`,
    principal: run.principal,
  };
}

function judge(actorId: string, reply: Reply): Attempt {
  if (reply.ok) {
    const { seq, handled, reason } = reply.body as JsonObject;
    return {
      kind: "done",
      outcome: "succeeded",
      actorId,
      seq: typeof seq === "number" ? seq : null,
      code: null,
      detail:
        handled === false ? `It was recorded, but there was no handler for it (${reason}).` : null,
    };
  }
  const { failure } = reply;
  if (failure.code === "actor_deleted") {
    // Only this slot has the key that it was spawned by.
    const detail = "The actor was spawned and has been deleted since.";
    return { kind: "done", outcome: "succeeded", actorId, seq: null, code: null, detail };
  }
  return refused(actorId, failure);
}

function refused(actorId: string | null, failure: Failure): Attempt {
  if (ERRORS[failure.code].retryable) return again(failure, false);
  const { code, detail } = failure;
  return { kind: "done", outcome: "refused", actorId, seq: null, code, detail };
}

function again({ code, detail }: Failure, lost: boolean): Attempt {
  return { kind: "again", code, detail, lost };
}
