import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { PerdureError } from "./errors.ts";

/**
 * Page cursors: opaque to callers, a list's name and a position inside. The name keeps a cursor
 * of one list from being used on another.
 */
export function encodeCursor(list: string, position: number): string {
  return encodeBase64url(`${list}:${position}`);
}

/** The position in a cursor that `encodeCursor` made for the same list, or null. */
export function decodeCursor(list: string, cursor: string): number | null {
  const text = decodeBase64url(cursor, 200);
  if (text === null) return null;
  const position = Number(text.slice(list.length + 1));
  const genuine = Number.isSafeInteger(position) && encodeCursor(list, position) === cursor;
  return genuine ? position : null;
}

const USE =
  "Use a nextCursor of this list as it was answered, or leave cursor out to begin at the start.";

/** Of a cursor that does not decode. */
export function invalidCursor(...more: string[]): PerdureError {
  return new PerdureError("cursor_invalid", [USE, ...more].join(" "));
}
