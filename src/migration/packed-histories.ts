import { LIMITS } from "../base/limits.ts";
import { STEP_BYTES } from "../fingerprint/decide-histories.ts";
import type { PackedHistories } from "../fingerprint/decide-histories.ts";

/**
 * Packed steps of actors, in base64 as the directory keeps them, back to back.
 * @throws RangeError for what no actor packs.
 */
export function joinHistories(all: readonly string[]): PackedHistories {
  const steps = new Uint8Array(all.length * LIMITS.historySteps * STEP_BYTES);
  const lengths = new Uint8Array(all.length);
  let end = 0;
  for (const [index, base64] of all.entries()) {
    const { length } = base64;
    const most = 4 * Math.ceil((LIMITS.historySteps * STEP_BYTES) / 3);
    if (length > most) throw malformed();
    const text = decode(base64);
    if (text.length % STEP_BYTES !== 0) throw malformed();
    for (let i = 0; i < text.length; i++) steps[end + i] = text.charCodeAt(i);
    for (let i = 0; i < text.length; i += STEP_BYTES) {
      if (text.charCodeAt(i) > 1) throw malformed();
    }
    lengths[index] = text.length / STEP_BYTES;
    end += text.length;
  }
  return { steps: steps.subarray(0, end), lengths };
}

function decode(base64: string): string {
  try {
    return atob(base64);
  } catch {
    throw malformed();
  }
}

function malformed(): RangeError {
  return new RangeError(
    `Packed steps are ${STEP_BYTES} bytes each, ${LIMITS.historySteps} at most`,
  );
}
