import { hash64 } from "./kernel.ts";

/** A number in [0, 1) that a text decides. The hash's last bits are its best ones. */
export function drawOf(text: string): number {
  return Number(hash64(text) % 1_000_003n) / 1_000_003;
}
