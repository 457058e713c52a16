import type { JsonValue } from "../base/json.ts";

/** The part of the input of `actor` that names its children. */
interface Family {
  id?: string | undefined;
  forEach?: readonly JsonValue[] | undefined;
}

/**
 * The ids of an activity's children, in the order of its list: the one that was given, else `<uid>.<seq>.<n>` of the
 * parent; with `forEach` a place behind it.
 */
export function childIds(parentUid: string, ref: string, { id, forEach }: Family): string[] {
  const stem = id ?? `${parentUid}.${ref.replace(":", ".")}`;
  return forEach === undefined ? [stem] : forEach.map((_, index) => `${stem}.${index}`);
}

/** The key that a child is spawned by, once: `uid:seq:n`, with its place behind it where there is a list. */
export function childKey(parentUid: string, ref: string, index: number, listed: boolean): string {
  return listed ? `${parentUid}:${ref}:${index}` : `${parentUid}:${ref}`;
}
