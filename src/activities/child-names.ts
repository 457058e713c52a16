import type { ActorRequest } from "./actor-input.ts";

/**
 * The ids of an activity's children, in the order of its list: the one that was given, else `<uid>.<seq>.<n>` of the
 * parent; with `forEach` the place behind it, and from the first retry by hand on the round: an id has one life here.
 */
export function childIds(
  parentUid: string,
  ref: string,
  { id, inputs, isList }: Pick<ActorRequest, "id" | "inputs" | "isList">,
  round = 0,
): string[] {
  const stem = id ?? `${parentUid}.${ref.replace(":", ".")}`;
  const end = round === 0 ? "" : `.r${round}`;
  return inputs.map((_, index) => (isList ? `${stem}.${index}${end}` : `${stem}${end}`));
}

/** The key that a child is spawned by, once: `uid:seq:n`, its place where there is a list, and the round. */
export function childKey(
  parentUid: string,
  ref: string,
  index: number,
  { isList, round = 0 }: { isList: boolean; round?: number | undefined },
): string {
  const place = isList ? `:${index}` : "";
  const end = round === 0 ? "" : `:r${round}`;
  return `${parentUid}:${ref}${place}${end}`;
}
