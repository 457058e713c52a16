/**
 * Cursors of lists that are ordered by birth and id: opaque to callers. `mark` tells the list and its filter,
 * so that a cursor of one filter is not taken for a place in the list of another.
 */
export function encodePlace(mark: string, place: { bornAt: number; id: string }): string {
  // The mark stands at the end: a cursor that was cut or grew has another one.
  const text = `${place.bornAt}:${place.id}:${mark}`;
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The place in a cursor that `encodePlace` made for the same mark, or null. */
export function decodePlace(mark: string, cursor: string): { bornAt: number; id: string } | null {
  if (!/^[\w-]{1,400}$/.test(cursor)) return null;
  let text: string;
  try {
    text = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
  const [, bornAt = "", id = ""] = /^(\d{1,16}):(.+):[^:]*$/.exec(text) ?? [];
  const place = { bornAt: Number(bornAt), id };
  const genuine = Number.isSafeInteger(place.bornAt) && encodePlace(mark, place) === cursor;
  return genuine && id !== "" ? place : null;
}
