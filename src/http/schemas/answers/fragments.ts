import { count, oneOf } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

export const fingerprint: JsonSchema = {
  type: "string",
  pattern: "^[0-9a-f]{16}$",
  description: "Of the handled events since birth.",
};

/** Of an event. */
export const notHandled = oneOf("no_transition", "guard_false", "forbidden");

/** Of a record, which may be a result that came too late, or a failure that nobody takes. */
export const recordNotHandled = oneOf(
  "no_transition",
  "guard_false",
  "forbidden",
  "late",
  "nobody",
);

export const nearMisses = {
  ...count,
  description: "Actors that handled the path's events in order, but not as the rule wants.",
};
