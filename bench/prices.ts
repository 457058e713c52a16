/** What a provider asks for one unit, and how many units a month are part of the plan. */
export interface Price {
  /** USD for `per` units. */
  usd: number;
  per: number;
  included: number;
}

const MILLION = 1_000_000;

/**
 * Cloudflare's Workers Paid plan, read in November 2026:
 * https://developers.cloudflare.com/durable-objects/platform/pricing/ and
 * https://developers.cloudflare.com/workers/platform/pricing/
 */
export const CLOUDFLARE = {
  planUsd: 5,
  workerRequests: { usd: 0.3, per: MILLION, included: 10 * MILLION },
  workerCpuMs: { usd: 0.02, per: MILLION, included: 30 * MILLION },
  /** Calls and alarms. */
  objectRequests: { usd: 0.15, per: MILLION, included: MILLION },
  objectGbSeconds: { usd: 12.5, per: MILLION, included: 400_000 },
  rowsRead: { usd: 0.001, per: MILLION, included: 25_000 * MILLION },
  /** Deletions and calls of `setAlarm` too. */
  rowsWritten: { usd: 1, per: MILLION, included: 50 * MILLION },
  /** A month. */
  storedGb: { usd: 0.2, per: 1, included: 5 },
} as const satisfies Record<string, Price | number>;

/** GB; what an object in memory is billed as, whatever it uses. */
export const OBJECT_GB = 0.128;

/** Temporal Cloud, pay as you go, Business: USD per million actions up to so many millions; https://docs.temporal.io/cloud/pricing */
export const TEMPORAL_TIERS = [
  { upTo: 5, usd: 50 },
  { upTo: 10, usd: 45 },
  { upTo: 20, usd: 40 },
  { upTo: 50, usd: 35 },
  { upTo: 100, usd: 30 },
  { upTo: 200, usd: 25 },
] as const;
/** The plan costs this or 10 % of what was used, whichever is more, and includes so many million actions. */
export const TEMPORAL_BUSINESS = { usd: 500, share: 0.1, includedMillions: 2.5 };

/** USD per million; us-east-1; https://aws.amazon.com/step-functions/pricing/ */
export const STEP_FUNCTIONS_TRANSITIONS = 25;
/** USD per million; https://vercel.com/docs/workflows/pricing */
export const VERCEL_STEPS = 25;
