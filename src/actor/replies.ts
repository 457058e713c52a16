import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Failure } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Fault } from "../machine/evaluation.ts";
import type { Reply } from "./rpc.ts";

export { refuse };

export function answer(status: number, body: JsonValue, seq: number, replayed = false): Reply {
  return replayed ? { ok: true, status, body, seq, replayed } : { ok: true, status, body, seq };
}

/** A step that failed with a caller to tell: nothing was recorded. */
export function refuseFault(fault: Fault, extra: Failure["extra"] = {}): Reply & { ok: false } {
  const { message, pointer, limit } = fault;
  // The one limit that gives way by itself: the same request may succeed later.
  const code = limit === "outboxBytes" ? "rate_limited" : fault.code;
  return refuse(code, message, {
    ...(pointer === undefined ? {} : { errors: [{ pointer, code, message }] }),
    extra: { ...extra, ...(limit === undefined ? {} : limitExtra(limit)) },
  });
}

export function refuseLimit(limit: keyof typeof LIMITS, detail: string): Reply & { ok: false } {
  return refuse("limit_exceeded", detail, { extra: limitExtra(limit) });
}

function limitExtra(limit: keyof typeof LIMITS): { limit: string; most: JsonValue } {
  return { limit, most: LIMITS[limit] };
}

export function noSuchActor(id: string): Reply & { ok: false } {
  return refuse("actor_not_found", `There is no actor '${id}'; spawn it with POST /v1/actors.`);
}
