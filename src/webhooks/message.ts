import type { JsonObject } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import type { NewDelivery } from "../storage/webhook-deliveries.ts";
import type { Notice } from "./rpc.ts";

/** A notice as it will be sent: the text is made once, so every attempt signs the same bytes. */
export function messageOf({ id, type, at, data }: Notice): NewDelivery {
  const { actorId } = data;
  return {
    message_id: id,
    type,
    actor_id: typeof actorId === "string" ? actorId : null,
    body: bodyOf(type, at, data),
  };
}

/** A message that only says that messages arrive. */
export function pingMessage(webhookId: string, now: number): NewDelivery {
  return {
    message_id: `ping:${crypto.randomUUID()}`,
    type: "ping",
    actor_id: null,
    body: bodyOf("ping", now, { webhookId }),
  };
}

function bodyOf(type: string, at: number, data: JsonObject): string {
  return JSON.stringify({ type, timestamp: isoTime(at), data });
}
