import type { WaitAnswer, WaitCondition } from "./actor-types.ts";
import { sleep } from "./retry.ts";

/** ms; the longest that the server holds one wait open. */
const SERVER_WAIT_MS = 55_000;
/** ms; the least between two rounds, should a server answer at once that time is up. */
const ROUND_MS = 1_000;

type AskOnce<Context> = (
  query: { state?: string; tag?: string; done?: true; seq?: number } & { timeoutMs: number },
) => Promise<WaitAnswer<Context>>;

/**
 * Asks again until the condition is met, the actor has ended or `timeoutMs` are over. Each round
 * holds one request; there is at least one, also with 0 ms.
 */
export async function waitUntil<Context>(
  ask: AskOnce<Context>,
  condition: WaitCondition,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<WaitAnswer<Context>> {
  if (!(Number.isFinite(timeoutMs) && timeoutMs >= 0)) {
    throw new RangeError("timeoutMs must be a number of milliseconds, 0 or more");
  }
  const startedAt = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const remaining = Math.max(0, Math.ceil(timeoutMs - (askedAt - startedAt)));
    const asked = Math.min(remaining, SERVER_WAIT_MS);
    const answer = await ask({ ...condition, timeoutMs: asked });
    const now = performance.now();
    const left = timeoutMs - (now - startedAt);
    if (answer.reason !== "timeout" || left <= 0) return answer;
    const early = Math.min(ROUND_MS, asked) - (now - askedAt);
    // When the signal ends the pause, the next round says so.
    if (early > 0) await sleep(Math.min(early, left), signal).catch(() => {});
  }
}
