import { refuse } from "../base/errors.ts";
import type { Failure, Refused } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { limitExtra } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import type { Fault } from "../machine/evaluation.ts";

export function answer(status: number, body: JsonValue, seq: number, replayed = false): Reply {
  return replayed ? { ok: true, status, body, seq, replayed } : { ok: true, status, body, seq };
}

/** A step that failed with a caller to tell: nothing was recorded. */
export function refuseFault(fault: Fault, extra: Failure["extra"] = {}): Refused {
  const { message, pointer, limit } = fault;
  // The one limit that gives way by itself: the same request may succeed later.
  const code = limit === "outboxBytes" ? "rate_limited" : fault.code;
  return refuse(code, message, {
    ...(pointer === undefined ? {} : { errors: [{ pointer, code, message }] }),
    extra: { ...extra, ...(limit === undefined ? {} : limitExtra(limit)) },
  });
}

export function noSuchActor(id: string): Refused {
  return refuse("actor_not_found", `There is no actor '${id}'; spawn it with POST /v1/actors.`);
}
