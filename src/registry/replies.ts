import { ERRORS } from "../base/errors.ts";
import type { ErrorCode, Failure } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { RegistryReply } from "./rpc.ts";

type Refusal = { ok: false; failure: Failure };
type CountLimit = "definitionsPerTenant" | "keysPerTenant";

export function answer(status: number, body: JsonValue): RegistryReply {
  return { ok: true, status, body };
}

export function refuse(
  code: ErrorCode,
  detail: string,
  more: Omit<Failure, "code" | "detail"> = {},
): Refusal {
  return { ok: false, failure: { code, detail, ...more } };
}

export function tooMany(limit: CountLimit, detail: string): Refusal {
  return refuse("limit_exceeded", detail, { extra: { limit, most: LIMITS[limit] } });
}

export function notFound(
  code: "definition_not_found" | "parent_not_found" | "key_not_found",
  id: string,
): Refusal {
  return refuse(code, `${ERRORS[code].title}: ${id}.`);
}

export const CURSOR_INVALID = refuse(
  "cursor_invalid",
  "Use a nextCursor of this list as it was answered, or leave cursor out to begin at the start.",
);
