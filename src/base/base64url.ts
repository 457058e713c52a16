/** Text of Latin-1 characters in base64url without padding. */
export function encodeBase64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Null for what is none, or longer than `most` characters. Several spellings may give the same text. */
export function decodeBase64url(encoded: string, most: number): string | null {
  if (encoded.length > most || !/^[\w-]+$/.test(encoded)) return null;
  try {
    return atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
