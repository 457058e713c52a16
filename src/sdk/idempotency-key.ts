/** What is used of the Web Crypto API. */
export interface RandomSource {
  randomUUID?(): string;
  getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array;
}

/**
 * 122 random bits as a UUID. Browsers give `randomUUID` to secure contexts only, so a page served
 * over plain HTTP builds it from `getRandomValues`.
 */
export function newIdempotencyKey(source: RandomSource = crypto): string {
  if (typeof source.randomUUID === "function") return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
