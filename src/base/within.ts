import { PerdureError } from "./errors.ts";

/** What a call gives; throws `unavailable` after `ms`. One that never comes back must hold nobody for ever. */
export async function within<Result>(ms: number, call: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new PerdureError("unavailable", `There was no answer within ${ms / 1_000} s.`));
  }, ms);
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
