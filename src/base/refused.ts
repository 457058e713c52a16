import { PerdureError } from "./errors.ts";
import type { Failure } from "./errors.ts";

/** A refusal as it crosses a remote call, which would make a nameless error of an exception. */
export interface Refused {
  ok: false;
  failure: Failure;
}

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

function isRefused(answer: unknown): answer is Refused {
  return (
    typeof answer === "object" &&
    answer !== null &&
    (answer as Partial<Refused>).ok === false &&
    (answer as Partial<Refused>).failure !== undefined
  );
}
