import { anyObject, count, instant, object, oneOf, orNull, ref, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

const run = {
  scheduledFor: instant,
  startedAt: instant,
  outcome: {
    ...oneOf("running", "succeeded", "refused", "failed", "skipped"),
    description:
      "running until the last attempt; skipped: missed slots, of which this is the last.",
  },
  "actorId?": text,
  "seq?": { ...count, description: "Of the record in the actor." },
  "code?": { ...text, description: "Why not; the words of Problem." },
  "detail?": text,
  "missed?": { ...count, description: "How many slots were skipped." },
  attempts: count,
};

export const SCHEDULES: { [name: string]: JsonSchema } = {
  Schedule: object({
    id: text,
    cron: text,
    timezone: text,
    spawn: orNull(anyObject),
    send: orNull(anyObject),
    catchUp: oneOf("skip", "one"),
    state: oneOf("active", "paused"),
    nextRunAt: {
      ...orNull(instant),
      description: "null while paused, and when the pattern has no more times.",
    },
    lastRun: orNull(ref("ScheduleRun")),
    createdAt: instant,
  }),
  ScheduleRun: object(run),
};
