import { WEBHOOK_EVENTS } from "../../../webhooks/rpc.ts";
import {
  count,
  flag,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  text,
} from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

const webhook = {
  id: text,
  url: text,
  events: list(oneOf(...WEBHOOK_EVENTS)),
  description: orNull(text),
  state: oneOf("active", "disabled"),
  reason: orNull({ ...text, description: "Why it was disabled, where nobody called for it." }),
  createdAt: instant,
  updatedAt: instant,
  inForceAt: {
    ...instant,
    description: "When every actor knows: from then on all is told as it says here.",
  },
};

export const WEBHOOKS: { [name: string]: JsonSchema } = {
  Webhook: object(webhook),
  WebhookWithSecret: object({
    ...webhook,
    "secret?": { ...text, description: "whsec_ and base64, in the first answer only." },
    "secretShown?": { ...flag, description: "In a replay: the secret was shown already." },
  }),
  Delivery: object({
    id: text,
    messageId: { ...text, description: "The webhook-id, the same in every attempt." },
    type: oneOf(...WEBHOOK_EVENTS, "ping"),
    status: oneOf("pending", "delivered", "failed"),
    attempts: {
      ...list(
        object({
          at: instant,
          "status?": integer,
          "error?": oneOf(
            "bad_status",
            "redirect",
            "gone",
            "timeout",
            "network",
            "target_refused",
            "queue_full",
          ),
          durationMs: count,
        }),
      ),
      description: "The last ones; one without an error was the one that arrived.",
    },
    nextAttemptAt: orNull(instant),
    createdAt: instant,
    deliveredAt: orNull(instant),
    actorId: orNull(text),
  }),
};
