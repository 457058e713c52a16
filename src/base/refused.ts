import { PerdureError } from "./errors.ts";
import type { Refused } from "./errors.ts";

/** Answers what is refused as data; anything else that is thrown is a fault of ours and stays an exception. */
export async function asData<Result>(
  ask: () => Result | Promise<Result>,
): Promise<Result | Refused> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof PerdureError) return { ok: false, failure: error.failure };
    throw error;
  }
}

/** The answer of a call that gives something else than replies; throws what was refused. */
export function given<Result>(answer: Result | Refused): Result {
  if (!isRefused(answer)) return answer;
  const { code, detail, ...more } = answer.failure;
  throw new PerdureError(code, detail, more);
}

/**
 * A refusal instead of an answer, or the answer in a member: so shards and sweeps have always said it, and an object may be
 * asked by one of another version.
 */
export type Wrapped<T> = { ok: true; value: T } | Refused;

/** `asData`, in this form. */
export function asWrapped<T>(ask: () => Promise<T>): Promise<Wrapped<T>> {
  return asData(async () => ({ ok: true as const, value: await ask() }));
}

/** `given`, of this form. */
export function unwrapped<T>(answer: Wrapped<T>): T {
  return given<{ ok: true; value: T }>(answer).value;
}

function isRefused(answer: unknown): answer is Refused {
  return (
    typeof answer === "object" &&
    answer !== null &&
    (answer as Partial<Refused>).ok === false &&
    (answer as Partial<Refused>).failure !== undefined
  );
}
