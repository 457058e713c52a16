import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { invalidCursor } from "./cursor.ts";

/**
 * Cursors of lists that are ordered by birth and id: opaque to callers. `mark` tells the list and its filter,
 * so that a cursor of one filter is not taken for a place in the list of another.
 */
export function encodePlace(mark: string, place: { bornAt: number; id: string }): string {
  // The mark stands at the end: a cursor that was cut or grew has another one.
  return encodeBase64url(`${place.bornAt}:${place.id}:${mark}`);
}

/** The place in a cursor that `encodePlace` made for the same mark, or null. */
export function decodePlace(mark: string, cursor: string): { bornAt: number; id: string } | null {
  const text = decodeBase64url(cursor, 400);
  if (text === null) return null;
  const [, bornAt = "", id = ""] = /^(\d{1,16}):(.+):[^:]*$/.exec(text) ?? [];
  const place = { bornAt: Number(bornAt), id };
  const genuine = Number.isSafeInteger(place.bornAt) && encodePlace(mark, place) === cursor;
  return genuine && id !== "" ? place : null;
}

/** The same, of a caller's cursor: throws where it is none. */
export function placeOf(mark: string, cursor: string): { bornAt: number; id: string } {
  const place = decodePlace(mark, cursor);
  if (place !== null) return place;
  throw invalidCursor("A cursor goes with the filter that it came from.");
}
