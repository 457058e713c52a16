import { LIMITS } from "../base/limits.ts";
import { STEP_BYTES } from "../fingerprint/decide-histories.ts";
import { codeOf } from "../fingerprint/kernel.ts";
import type { LogRecord } from "./types.ts";

/** Whether an actor's packed steps are all that fit. */
export function stepsFull(packed: string): boolean {
  return packed.length >= base64Chars(LIMITS.historySteps * STEP_BYTES);
}

/**
 * The first LIMITS.historySteps steps of a history, in base64: handled events, and handled timers of states
 * flagged as the system's own. `packed` are those known so far, the records what came next.
 */
export function packSteps(
  packed: string,
  records: Iterable<Pick<LogRecord, "type" | "handled">>,
): string {
  if (stepsFull(packed)) return packed;
  // Groups of four characters that are full stay as they are.
  const kept = packed.endsWith("=") ? packed.length - 4 : packed.length;
  const bytes = Array.from(atob(packed.slice(kept)), (char) => char.charCodeAt(0));
  const most = LIMITS.historySteps * STEP_BYTES - (kept / 4) * 3;
  for (const { type, handled } of records) {
    if (!handled || !type) continue;
    if (bytes.length >= most) break;
    const code = codeOf(type);
    bytes.push(type.startsWith("@") ? 1 : 0, code >>> 24, (code >>> 16) & 255);
    bytes.push((code >>> 8) & 255, code & 255);
  }
  return packed.slice(0, kept) + btoa(String.fromCharCode(...bytes));
}

function base64Chars(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
