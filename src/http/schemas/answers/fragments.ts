import { count, oneOf } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

export const fingerprint: JsonSchema = {
  type: "string",
  pattern: "^[0-9a-f]{16}$",
  description: "Of the handled events since birth.",
};

export const notHandled = oneOf("no_transition", "guard_false", "forbidden");

export const nearMisses = {
  ...count,
  description: "Actors that handled the path's events in order, but not as the rule wants.",
};
