import { PerdureError } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import { pause } from "./pause.ts";

/** A namespace of Durable Objects by what is used of it: a fresh stub for a name. */
export interface Objects<Rpc> {
  getByName(name: string): Rpc;
}

/** What the platform writes on an error that a call to an object threw; none of it is typed. */
interface PlatformError {
  retryable?: unknown;
  durableObjectReset?: unknown;
  overloaded?: unknown;
  /** Thrown by the object's own code, which may carry members of any name. */
  remote?: unknown;
  message?: unknown;
}

/**
 * `lost`: the object went away under the call. `overloaded`: it has more to do than it can. `older`: it still runs a
 * version without this method. `failing`: the platform could not do it, as where no more files may be open. `bug`: its
 * code threw.
 */
type CallFailure = "lost" | "overloaded" | "older" | "failing" | "bug";

// For runtimes that throw these without the properties.
const LOST =
  /reset because its code was updated|instance is no longer active|caused object to be reset|Network connection lost/;
const OVERLOADED = /Object is overloaded|too much load on Durable Objects/;
// The platform says it in no other way.
const OLDER = /^The RPC receiver does not implement\b/;
const FAILING = /^internal error(?:; reference = \w+)?$/;
// Not of its statements: the disk, or the memory, does not do it.
const REFUSED_BY_DISK = /: SQLITE_(?:FULL|IOERR|NOMEM|BUSY|CANTOPEN)$/;

export function classifyCallFailure(error: unknown): CallFailure {
  if (typeof error !== "object" || error === null) return "bug";
  const { retryable, durableObjectReset, overloaded, remote, message } = error as PlatformError;
  const text = typeof message === "string" ? message : "";
  if (overloaded === true || OVERLOADED.test(text)) return "overloaded";
  // An object's own code may have lost another object; that is remote and still a loss.
  if (durableObjectReset === true || LOST.test(text)) return "lost";
  if (OLDER.test(text)) return "older";
  if (FAILING.test(text) || REFUSED_BY_DISK.test(text)) return "failing";
  return retryable === true && remote !== true ? "lost" : "bug";
}

/**
 * Calls the object of a name. A stub whose object went away stays broken, so each attempt has a new
 * one. `repeatable` calls, reads and those that a key makes act once, are made again; for the others
 * one loss is an answer. Throws `unavailable` where the platform failed, and what the object's own
 * code threw as it is.
 */
export async function callObject<Rpc, Result>(
  objects: Objects<Rpc>,
  name: string,
  repeatable: boolean,
  call: (object: Rpc) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(objects.getByName(name));
    } catch (error) {
      const failure = classifyCallFailure(error);
      if (failure === "bug") throw error;
      if (failure !== "lost" || !repeatable || attempt === LIMITS.callAttempts) {
        throw unavailable(failure, error);
      }
      // Jitter keeps callers that lost one object from coming back to it all at once.
      await pause((LIMITS.callBackoffMs[attempt - 1] ?? 0) * (0.5 + Math.random()));
    }
  }
}

/** Whether a call failed because the object, or one that it asked, is of the version before. */
export function isOlder(error: unknown): boolean {
  return error instanceof PerdureError && classifyCallFailure(error.cause) === "older";
}

const WHY = {
  lost: "was interrupted",
  overloaded: "is overloaded",
  older: "is being brought to a newer version",
  failing: "cannot do it at the moment",
};

function unavailable(failure: keyof typeof WHY, cause: unknown): PerdureError {
  const error = new PerdureError(
    "unavailable",
    `The service ${WHY[failure]}. Send the same request again, with the same Idempotency-Key if it has one.`,
  );
  error.cause = cause;
  return error;
}
