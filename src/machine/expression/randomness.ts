import { hash64 } from "../../fingerprint/kernel.ts";
import type { Run } from "./run.ts";

const MASK = 2n ** 64n - 1n;

/** SplitMix64's finaliser: FNV alone leaves neighbouring inputs alike in their high bits. */
function mix(bits: bigint): bigint {
  let mixed = ((bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return mixed ^ (mixed >> 31n);
}

/** 64 bits for a lane of the n-th draw: a function of (uid, seq, pointer, n) and nothing else, so that they replay. */
function bits(run: Run, draw: number, lane: number): bigint {
  const { uid, self, pointer } = run.scope;
  return mix(hash64(JSON.stringify([lane, uid, self.seq, draw, pointer])));
}

/** A double in [0, 1) with 53 random bits. */
export function random(run: Run): number {
  return Number(bits(run, run.nextDraw(), 0) >> 11n) / 2 ** 53;
}

/** A version 4 UUID. */
export function uuid(run: Run): string {
  const draw = run.nextDraw();
  const high = (bits(run, draw, 1) & ~0xf000n) | 0x4000n;
  const low = (bits(run, draw, 2) & (MASK >> 2n)) | (1n << 63n);
  const hex = high.toString(16).padStart(16, "0") + low.toString(16).padStart(16, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
