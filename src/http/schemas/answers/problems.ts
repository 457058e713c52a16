import { flag, integer, list, object, ref, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

export const PROBLEMS: { [name: string]: JsonSchema } = {
  Problem: {
    ...object({
      type: { ...text, format: "uri" },
      title: text,
      status: integer,
      detail: { ...text, description: "What happened and what to do." },
      code: { ...text, description: "The word to tell errors apart by." },
      retryable: { ...flag, description: "Whether the same request may succeed later unchanged." },
      "errors?": list(ref("Fault")),
    }),
    description: "RFC 9457. Some codes have further members, such as actorStatus or nextEvents.",
    additionalProperties: true,
  },
  Fault: object({ pointer: { ...text, description: "RFC 6901" }, code: text, message: text }),
  StateValue: {
    anyOf: [text, { type: "object", additionalProperties: ref("StateValue") }],
  },
};
