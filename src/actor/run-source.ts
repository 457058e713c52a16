import { parseCodeInput } from "../activities/policy-input.ts";
import type { AttemptFailure } from "../activities/types.ts";
import { abortAfter } from "../base/abort-after.ts";
import { bytesOver, dataFault } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { implementations } from "../implementations/index.ts";
import type { SourceArgs } from "../machine/implementations.ts";
import { afterAttempt, invalidInput, keyOf } from "./attempt.ts";
import type { Attempted, Start } from "./attempt.ts";
import type { Carried } from "./carriers.ts";
import type { OutboxItem } from "./outbox.ts";
import type { Resident } from "./resident.ts";

/** One attempt of a source in code. */
export async function runSource(
  resident: Resident,
  item: OutboxItem,
  signal: AbortSignal,
): Promise<Carried> {
  const { ref, src, input } = item.effect as Start;
  const parsed = parseCodeInput(input);
  if (!parsed.ok) return invalidInput(ref, parsed.pointer, parsed.message);
  const key = keyOf(resident, item.effect);
  const attempted = await attempt(src, parsed.value.timeoutMs, signal, {
    // Its own copy: what it does to it must not be in the next attempt.
    input: structuredClone(input) as JsonValue,
    key,
    attempt: item.attempts + 1,
    now: Date.now(),
  });
  return afterAttempt(resident, item, parsed.value, attempted);
}

async function attempt(
  src: string,
  timeoutMs: number,
  cancelled: AbortSignal,
  args: Omit<SourceArgs, "signal">,
): Promise<Attempted> {
  const { sources } = implementations;
  const source = Object.hasOwn(sources, src) ? sources[src] : undefined;
  if (source === undefined) {
    // A version without it is deployed; a later one may have it again.
    const message = `This deployment has no source '${src}' in src/implementations.`;
    return { failure: { code: "failed", message, retryable: true } };
  }
  return await abortAfter(timeoutMs, async (late) => {
    const signal = AbortSignal.any([late, cancelled]);
    const ended = Promise.withResolvers<Attempted>();
    signal.addEventListener("abort", () => ended.resolve({ failure: timedOut(timeoutMs) }));
    // Nobody waits for it once the time is over.
    const running = run(src, () => source({ ...args, signal }));
    return await Promise.race([running, ended.promise]);
  });
}

async function run(src: string, source: () => Promise<unknown>): Promise<Attempted> {
  try {
    return checked(src, await source());
  } catch (error) {
    return { failure: thrown(src, error) };
  }
}

/** What it answers becomes data: undefined is null, and what JSON cannot say is refused. */
function checked(src: string, value: unknown): Attempted {
  const text = jsonOf(value ?? null);
  if (text === null) {
    const message = `The source '${src}' answered with what is no JSON data.`;
    return { failure: { code: "failed", message, retryable: false } };
  }
  if (bytesOver(LIMITS.outputBytes, text) > LIMITS.outputBytes) {
    const message = `The source '${src}' answered with more than ${LIMITS.outputBytes} bytes of JSON, the limit outputBytes.`;
    return { failure: { code: "too_large", message, retryable: false } };
  }
  return { output: JSON.parse(text) as JsonValue };
}

function jsonOf(value: unknown): string | null {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text !== undefined && dataFault(value, LIMITS.jsonDepth) === null ? text : null;
  } catch {
    // A circle, or a bigint.
    return null;
  }
}

/** A thrown error may say more than its message: `code`, `retryable: false`, `retryAfterMs`. */
function thrown(src: string, error: unknown): AttemptFailure {
  logError("warn", error, { during: "a source in code", source: src });
  const { code, message, retryable, retryAfterMs } = Object(error) as { [member: string]: unknown };
  const text = typeof message === "string" ? message : String(error);
  return {
    code: typeof code === "string" && code !== "" ? code.slice(0, LIMITS.nameChars) : "failed",
    message: text.toWellFormed().slice(0, LIMITS.textChars),
    ...(typeof retryAfterMs === "number" && retryAfterMs > 0 ? { retryAfterMs } : {}),
    retryable: retryable !== false,
  };
}

function timedOut(timeoutMs: number): AttemptFailure {
  return {
    code: "timeout",
    message: `It had not ended after ${timeoutMs} ms.`,
    retryable: true,
  };
}
