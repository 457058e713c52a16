import { canonicalJson } from "../base/json.ts";
import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";
import type { Saying } from "./bring-result.ts";
import { leaseRefusal } from "./lease.ts";
import type { QueueRpc } from "./rpc.ts";
import { afterFailure } from "./transitions.ts";

/** A worker has done it. */
export async function completion({
  leaseToken,
  output,
}: Parameters<QueueRpc["complete"]>[0]): Promise<Saying> {
  return {
    hash: await sha256Hex(canonicalJson({ output })),
    refusal: (row, now) => notForWorkers(row) ?? leaseRefusal(row, leaseToken, now),
    becomes: () => ({ changes: {}, outcome: { output } }),
  };
}

/** A worker could not do it; or somebody ends by hand what nobody has, of which no attempt is over. */
export async function failure({
  leaseToken,
  error: { code, message },
  retryable,
}: Parameters<QueueRpc["fail"]>[0]): Promise<Saying> {
  return {
    hash: await sha256Hex(canonicalJson({ code, message })),
    refusal: (row, now) => notForWorkers(row) ?? leaseRefusal(row, leaseToken, now),
    becomes: (row, now) => {
      const again = retryable && row.status === "claimed";
      return afterFailure(row, { code, message, retryable: again }, now);
    },
  };
}

/** A person has decided. */
export async function decision({
  approved,
  by,
  comment,
}: Parameters<QueueRpc["decide"]>[0]): Promise<Saying> {
  const output = { approved, by, comment };
  return {
    hash: await sha256Hex(canonicalJson({ output })),
    refusal: notForPeople,
    becomes: () => ({ changes: {}, outcome: { output } }),
  };
}

function notForWorkers({ kind }: TaskRow): Refused | null {
  if (kind === "task") return null;
  return refuse("invalid_request", "This is an approval: POST …/decide with approved and by.");
}

function notForPeople({ kind }: TaskRow): Refused | null {
  if (kind === "approval") return null;
  return refuse("invalid_request", "This is a task for workers: POST …/complete with its output.");
}
