import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { RETRY, policyOf } from "./policy-input.ts";
import { anything, ms, object, parse, satisfies, text, whole } from "./shape.ts";
import type { Parsed, Shape } from "./shape.ts";
import { QUEUE_NAME } from "./task-id.ts";
import type { Policy } from "./types.ts";

/** Work for a worker, in a queue. */
interface TaskRequest {
  queue: string;
  input: JsonValue;
  title: string | null;
  /** ms that a worker may be silent. */
  leaseMs: number;
  /** ms that it waits for a first worker. */
  unclaimedMs: number;
  policy: Policy;
}

export const queueName: Shape = satisfies(
  (value) => typeof value === "string" && QUEUE_NAME.test(value),
  `A queue's name has 1 to ${LIMITS.queueNameChars} of the characters A–Z a–z 0–9 _ -`,
);

export const TASK_INPUT: Shape = object(
  {
    required: { queue: queueName },
    optional: {
      input: anything,
      title: text(LIMITS.textChars),
      leaseMs: whole(LIMITS.leaseLeastMs, LIMITS.leaseMostMs, "ms"),
      unclaimedMs: ms,
      retry: RETRY,
      deadlineMs: ms,
    },
  },
  "The input of `task`",
);

const LEASE_MS = 60_000;
const UNCLAIMED_MS = 7 * 86_400_000;

export function parseTaskInput(input: JsonValue): Parsed<TaskRequest> {
  return parse(TASK_INPUT, input, (value) => {
    const { queue, input: data = null, title = null } = value;
    const { leaseMs = LEASE_MS, unclaimedMs = UNCLAIMED_MS } = value;
    const policy = { ...policyOf(value), timeoutMs: leaseMs };
    return { queue, input: data, title, leaseMs, unclaimedMs, policy } as TaskRequest;
  });
}
