import { PerdureError, refuse } from "./errors.ts";
import type { Refused } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { LIMITS } from "./limits.ts";

type Limit = keyof typeof LIMITS;

/** Of what is beyond a limit. */
export function refuseLimit(limit: Limit, detail: string): Refused {
  return refuse("limit_exceeded", detail, { extra: limitExtra(limit) });
}

/** The same, to be thrown. */
export function overLimit(limit: Limit, detail: string): PerdureError {
  return new PerdureError("limit_exceeded", detail, { extra: limitExtra(limit) });
}

/** Which limit it is, beside a problem's sentence. */
export function limitExtra(limit: Limit): { limit: string; most: JsonValue } {
  return { limit, most: LIMITS[limit] };
}
