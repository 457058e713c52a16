import type { Reply } from "../base/reply.ts";
import type { ActorRpc, Address, Keyed } from "../actor/rpc.ts";
import { callObject } from "../base/call-object.ts";
import { ERRORS, PerdureError } from "../base/errors.ts";
import type { ErrorCode, Failure } from "../base/errors.ts";
import { actorObjectName } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { within } from "../base/within.ts";
import type { Env } from "../env.ts";
import type { ItemPair } from "../storage/bulk-selection.ts";
import type { Outcome } from "../storage/bulk-groups.ts";
import type { BulkCommand } from "./rpc.ts";

/**
 * Does to one actor what the operation is for. The key is the same however often it is tried, so it happens once;
 * only the incarnation that was selected is meant. Never throws: `pending` means that it may work later.
 */
export async function act(
  env: Pick<Env, "ACTORS">,
  command: BulkCommand,
  [id, uid]: ItemPair,
): Promise<Outcome> {
  const { tenant } = command;
  const address: Address = { tenant, id, expect: { uid } };
  const keyed: Keyed = {
    key: `bulk:${command.id}`,
    request: command.request,
    ifMatch: null,
    by: command.by,
    principal: command.principal,
  };
  try {
    const call = callObject(env.ACTORS, actorObjectName(tenant, id), true, (actor) =>
      ask(actor, command, address, keyed),
    );
    return outcomeOf(command, await within(LIMITS.bulkCallMs, call), Date.now());
  } catch (error) {
    if (error instanceof PerdureError) return refused(error.failure, Date.now());
    logError("error", error, { during: "bulk" });
    const detail = "Something failed on our side.";
    return refused({ code: "internal_error", detail }, Date.now());
  }
}

function ask(
  actor: ActorRpc,
  { action, type, payload }: BulkCommand,
  address: Address,
  keyed: Keyed,
): Promise<Reply> {
  switch (action) {
    case "send": {
      const event = { type: type ?? "", payload };
      return actor.send({ ...address, keyed, ...event, strict: false, representation: false });
    }
    case "replay":
      return actor.replay({ ...address, definitionId: null });
    default:
      return actor.control({ ...address, keyed, action, reason: null, item: null });
  }
}

function outcomeOf({ action }: BulkCommand, reply: Reply, at: number): Outcome {
  if (!reply.ok) return refused(reply.failure, at);
  const { seq } = reply;
  const known = seq === undefined ? {} : { seq };
  const body = reply.body as JsonObject;
  if (action === "send") {
    return { outcome: "succeeded", at, ...known, handled: body["handled"] === true };
  }
  if (action !== "replay") return { outcome: "succeeded", at, ...known };
  if (body["identical"] === true) return { outcome: "succeeded", at, ...known, identical: true };
  const { seq: divergedAt } = body["firstDivergence"] as { seq: number };
  return {
    outcome: "failed",
    at,
    seq: divergedAt,
    identical: false,
    code: "replay_diverged",
    detail: `The log, played again, first differs at seq ${divergedAt}; POST …/replay shows how.`,
  };
}

function refused({ code, detail }: Failure, at: number): Outcome {
  const outcome = mayWorkLater(code) ? "pending" : "refused";
  return { outcome, at, code, detail: detail.slice(0, LIMITS.textChars) };
}

function mayWorkLater(code: ErrorCode): boolean {
  return ERRORS[code].retryable;
}
