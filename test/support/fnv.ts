/** FNV-1a as its authors describe it, byte by byte: what the C module is compared with. */
const encoder = new TextEncoder();

export const OFFSET_64 = 0xcbf29ce484222325n;
export const OFFSET_32 = 0x811c9dc5;

export function fnv64(bytes: Iterable<number>, from: bigint = OFFSET_64): bigint {
  let hash = from;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

export function fnv32(bytes: Iterable<number>, from: number = OFFSET_32): number {
  let hash = from;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

export function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, "0");
}

/** Each type's UTF-8 bytes, followed by the byte 0xFF. */
export function plainFingerprint(types: readonly string[]): string {
  return hexOf(fnv64(types.flatMap((type) => [...encoder.encode(type), 0xff])));
}

export function plainCode(type: string): number {
  return fnv32(encoder.encode(type));
}

export function plainHash64(text: string): bigint {
  return fnv64(encoder.encode(text));
}
