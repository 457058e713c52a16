import { LIMITS } from "../base/limits.ts";
import { STEP_BYTES } from "../fingerprint/decide-histories.ts";
import type { PackedHistories } from "../fingerprint/decide-histories.ts";

/** Bytes of a full copy, and characters of its base64. */
const BYTES_MOST = LIMITS.historySteps * STEP_BYTES;
const CHARS_MOST = 4 * Math.ceil(BYTES_MOST / 3);
const NONE = 255;
/** By character of base64: its six bits. */
const BITS = new Uint8Array(256).fill(NONE);
for (const [bits, char] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries()) {
  BITS[char.charCodeAt(0)] = bits;
}

/** Packed steps back to back, and 1 for each history that may have steps which are not there. */
export interface CutHistories extends PackedHistories {
  readonly open: Uint8Array;
}

/** Puts packed steps, in base64 as the directory keeps them, back to back. */
export class HistoryPacker {
  readonly #steps: Uint8Array;
  readonly #lengths: Uint8Array;
  readonly #open: Uint8Array;
  #count = 0;
  #end = 0;

  /** `most`: histories that there is room for. */
  constructor(most: number) {
    this.#steps = new Uint8Array(most * BYTES_MOST + 2);
    this.#lengths = new Uint8Array(most);
    this.#open = new Uint8Array(most);
  }

  /**
   * The next history, without its first `skipped` steps. What cannot be known becomes one of no steps that is open:
   * `base64` or `skipped` is null, the copy ends before its steps begin, or is none. Says whether it was known.
   */
  add(base64: string | null, skipped: number | null): boolean {
    const index = this.#count;
    this.#count += 1;
    const length = base64 === null || skipped === null ? -1 : this.#decode(base64);
    const left = length - (skipped ?? 0);
    const full = length >= LIMITS.historySteps;
    const known = length >= 0 && left >= 0 && !(full && left === 0);
    this.#open[index] = known && !full ? 0 : 1;
    if (!known) return false;
    const from = this.#end + (length - left) * STEP_BYTES;
    const end = this.#end + length * STEP_BYTES;
    if (left < length) this.#steps.copyWithin(this.#end, from, end);
    this.#lengths[index] = left;
    this.#end += left * STEP_BYTES;
    return true;
  }

  get histories(): CutHistories {
    return {
      steps: this.#steps.subarray(0, this.#end),
      lengths: this.#lengths.subarray(0, this.#count),
      open: this.#open.subarray(0, this.#count),
    };
  }

  /** Writes what a text stands for behind what there is; answers how many steps it is, -1 for what no actor packs. */
  #decode(base64: string): number {
    let { length } = base64;
    if (length > CHARS_MOST || length % 4 !== 0) return -1;
    while (length > 0 && base64.length - length < 2 && base64[length - 1] === "=") length -= 1;
    const steps = this.#steps;
    let to = this.#end;
    let bits = 0;
    for (let i = 0; i < length; i += 1) {
      // Above Latin-1 there is nothing, which is none.
      const six = BITS[base64.charCodeAt(i)] ?? NONE;
      if (six === NONE) return -1;
      bits = (bits << 6) | six;
      if (i % 4 === 3) {
        steps[to] = bits >> 16;
        steps[to + 1] = bits >> 8;
        steps[to + 2] = bits;
        to += 3;
        bits = 0;
      }
    }
    const rest = length % 4;
    if (rest === 3) {
      steps[to] = bits >> 10;
      steps[to + 1] = bits >> 2;
      to += 2;
    } else if (rest === 2) {
      steps[to] = bits >> 4;
      to += 1;
    }
    const size = to - this.#end;
    if (size % STEP_BYTES !== 0 || size > BYTES_MOST) return -1;
    for (let at = this.#end; at < to; at += STEP_BYTES) if ((steps[at] ?? 0) > 1) return -1;
    return size / STEP_BYTES;
  }
}

/**
 * The same of many texts at once.
 * @throws RangeError for what no actor packs.
 */
export function joinHistories(all: readonly string[]): CutHistories {
  const packer = new HistoryPacker(all.length);
  for (const base64 of all) {
    if (!packer.add(base64, 0)) {
      throw new RangeError(
        `Packed steps are ${STEP_BYTES} bytes each, ${LIMITS.historySteps} at most`,
      );
    }
  }
  return packer.histories;
}
