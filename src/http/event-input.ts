import { PerdureError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/** Refuses event types that only the machine itself may use, or that would match more than was meant. */
export function checkEventType(type: string, pointer: string): void {
  if (type !== "*" && !/^(?:xstate\.|@|!)/.test(type)) return;
  throw new PerdureError(
    "event_type_reserved",
    'Event types that begin with "xstate.", "@" or "!", and the type "*", are not for callers to send.',
    { errors: [{ pointer, code: "event_type_reserved", message: "is reserved" }] },
  );
}

/** Refuses events that nobody may send. `pointer` leads to the event in the body. */
export function checkEvent(
  { type, payload }: { type: string; payload?: JsonObject | null | undefined },
  pointer = "",
): void {
  checkEventType(type, `${pointer}/type`);
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
