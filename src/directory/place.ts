import type { Place } from "./rpc.ts";

/** Youngest first; those born in one ms by id, as SQLite compares texts: by their bytes, which for ids are ASCII. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.bornAt !== b.bornAt) return b.bornAt - a.bornAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
