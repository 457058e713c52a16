import { anyObject, count, flag, instant, object, oneOf, orNull, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

export const BULK: { [name: string]: JsonSchema } = {
  Bulk: object({
    id: text,
    action: oneOf("send", "pause", "resume", "terminate", "retry", "replay"),
    filter: anyObject,
    state: oneOf("running", "cancelling", "done", "cancelled"),
    total: { ...count, description: "Actors selected when it was accepted." },
    counts: object({
      pending: count,
      succeeded: count,
      refused: count,
      failed: count,
      cancelled: count,
    }),
    createdAt: instant,
    finishedAt: orNull(instant),
  }),
  BulkItem: object({
    actorId: text,
    outcome: oneOf("pending", "succeeded", "refused", "failed", "cancelled"),
    at: orNull(instant),
    "seq?": {
      ...count,
      description: "The event's record, or the actor's last one; where a replay diverged.",
    },
    "handled?": { ...flag, description: "With send: whether the machine had a handler." },
    "identical?": { ...flag, description: "With replay." },
    "code?": { ...text, description: "Why not, as in a problem's code, or replay_diverged." },
    "detail?": text,
  }),
};
