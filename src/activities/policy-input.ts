import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { flag, list, ms, object, parse, satisfies, text, whole } from "./shape.ts";
import type { Parsed, Shape } from "./shape.ts";
import type { Policy } from "./types.ts";

/** What `retry` of an input may hold. */
export const RETRY: Shape = object(
  {
    required: {},
    optional: {
      maxAttempts: whole(1, LIMITS.activityAttempts),
      initialMs: ms,
      factor: satisfies(
        (value) => typeof value === "number" && value >= 1 && value <= LIMITS.retryFactor,
        `This is a number from 1 to ${LIMITS.retryFactor}.`,
      ),
      maxMs: ms,
      jitter: flag,
      nonRetryable: list(codeOrStatus(), LIMITS.activityListEntries),
    },
  },
  "`retry`",
);

/** Members that inputs of `http` and of sources in code share. */
export const ATTEMPTS: Record<string, Shape> = {
  retry: RETRY,
  timeoutMs: whole(1, LIMITS.activityAttemptMs, "ms"),
  deadlineMs: ms,
};

export const DEFAULT_POLICY: Policy = {
  maxAttempts: 5,
  initialMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: true,
  nonRetryable: [],
  timeoutMs: 30_000,
  deadlineMs: null,
};

/** The policy of an input that was checked: what it does not say is as `DEFAULT_POLICY`. */
export function policyOf(input: JsonObject): Policy {
  const { retry = {}, timeoutMs, deadlineMs } = input;
  return {
    ...DEFAULT_POLICY,
    ...(retry as Partial<Policy>),
    ...(timeoutMs === undefined ? {} : { timeoutMs: timeoutMs as number }),
    ...(deadlineMs === undefined ? {} : { deadlineMs: deadlineMs as number }),
  };
}

/** The input of a source in code: any JSON, of which an object may hold the members of a policy. */
export const CODE_INPUT: Shape = (value, pointer, reader) => {
  if (!isJsonObject(value)) return;
  const members = Object.entries(value).filter(([key]) => Object.hasOwn(ATTEMPTS, key));
  object({ required: {}, optional: ATTEMPTS }, "A policy")(
    Object.fromEntries(members),
    pointer,
    reader,
  );
};

export function parseCodeInput(input: JsonValue): Parsed<Policy> {
  return parse(CODE_INPUT, input, (value) => policyOf(isJsonObject(value) ? value : {}));
}

function codeOrStatus(): Shape {
  const code = text(LIMITS.nameChars);
  const status = whole(100, 599);
  return (value, pointer, reader) =>
    (typeof value === "string" ? code : status)(value, pointer, reader);
}
