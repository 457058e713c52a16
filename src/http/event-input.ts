import { PerdureError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/**
 * Refuses event types that only the machine itself may use, or that would match more than was meant.
 * `pointer` leads to the event in the body.
 */
export function checkEvent(
  event: { type: string; payload?: JsonObject | null | undefined },
  pointer = "",
): void {
  const { type, payload } = event;
  if (type === "*" || /^(?:xstate\.|@|!)/.test(type)) {
    throw new PerdureError(
      "event_type_reserved",
      'Event types that begin with "xstate.", "@" or "!", and the type "*", are not for callers to send.',
      {
        errors: [
          { pointer: `${pointer}/type`, code: "event_type_reserved", message: "is reserved" },
        ],
      },
    );
  }
  if (payload && Object.hasOwn(payload, "type")) {
    throw new PerdureError(
      "invalid_request",
      "The machine sees {type, ...payload}, so the payload cannot have a member named type.",
      {
        errors: [{ pointer: `${pointer}/payload/type`, code: "reserved", message: "is reserved" }],
      },
    );
  }
}
