import { LIMITS } from "./limits.ts";

/** ms that an isolate trusts what it knows of a tenant; a change is in force everywhere that much later. */
export function leaseMs(env: { PERDURE_PROFILE?: string }): number {
  return env.PERDURE_PROFILE === "development" ? LIMITS.leaseDevelopmentMs : LIMITS.leaseMs;
}
