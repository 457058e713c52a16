import { abortAfter } from "../base/abort-after.ts";
import { LIMITS } from "../base/limits.ts";
import { retryAfter } from "../base/retry-after.ts";
import { VERSION } from "../base/version.ts";
import { targetFault } from "../outbound/target.ts";
import type { OutboundEnv } from "../outbound/target.ts";
import type { DeliveryRow } from "../storage/webhook-deliveries.ts";
import type { Attempt, AttemptError } from "./delivery.ts";
import { signatureOf } from "./signature.ts";

/** Answers whose Retry-After counts. */
const THROTTLED = new Set([429, 502, 503, 504]);

/** Sends a message once. Never throws; whatever goes wrong is how the attempt ended. */
export async function attemptDelivery(
  row: Pick<DeliveryRow, "message_id" | "body">,
  { url, secret }: { url: string; secret: string },
  env: OutboundEnv,
): Promise<Attempt> {
  const at = Date.now();
  const ended = (how: Omit<Attempt, "at" | "durationMs">): Attempt => ({
    at,
    durationMs: Math.max(0, Date.now() - at),
    ...how,
  });
  if (targetFault(url, env) !== null) return ended({ error: "target_refused" });
  return await abortAfter(LIMITS.attemptMs, async (signal) => {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: await signedHeaders(row, secret, at),
        body: row.body,
        redirect: "manual",
        signal,
      });
      const { status, headers } = response;
      // Nothing of it is read; a receiver may send as much as it likes.
      await response.body?.cancel().catch(() => {});
      const error = errorOf(status);
      if (error === null) return ended({ status });
      const retryAfterMs = THROTTLED.has(status) ? retryAfter(headers.get("Retry-After")) : 0;
      return ended({ status, error, retryAfterMs });
    } catch {
      // What was thrown may quote the address or worse, so it is told in a word.
      return ended({ error: signal.aborted ? "timeout" : "network" });
    }
  });
}

async function signedHeaders(
  { message_id: id, body }: Pick<DeliveryRow, "message_id" | "body">,
  secret: string,
  at: number,
): Promise<Record<string, string>> {
  const timestamp = Math.floor(at / 1_000);
  return {
    "Content-Type": "application/json",
    "User-Agent": `Perdure/${VERSION}`,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await signatureOf(secret, { id, timestamp, body }),
  };
}

function errorOf(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return "redirect";
  return status === 410 ? "gone" : "bad_status";
}
