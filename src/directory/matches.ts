import type { StateValue } from "../machine/types.ts";
import type { ActorClass, Filter } from "./rpc.ts";

/** Which entries of a class a filter takes, but for its `updatedAfter`. Overdue and punctual are told apart by the due time. */
export type Share = "none" | "every" | "overdue" | "punctual";

/** Judges a class by a filter. */
export function shareOf(filter: Filter, actorClass: ActorClass): Share {
  if (!fits(filter, actorClass)) return "none";
  const { attention } = filter;
  if (attention === undefined) return "every";
  const fires = firesTimers(actorClass);
  if (attention === "timer_overdue") return fires ? "overdue" : "none";
  if (typeof attention === "string") {
    return actorClass.attention.includes(attention) ? "every" : "none";
  }
  const troubled = actorClass.attention.length > 0;
  if (attention) {
    if (troubled) return "every";
    return fires ? "overdue" : "none";
  }
  if (troubled) return "none";
  return fires ? "punctual" : "every";
}

/** Whether a due time of such an actor can be late. One that has ended may still undo something. */
export function firesTimers({ status }: Pick<ActorClass, "status">): boolean {
  return status !== "paused" && status !== "stranded";
}

/** Whether a filter takes an actor of this class that is or is not overdue, but for `updatedAfter`. */
export function matches(filter: Filter, actorClass: ActorClass, overdue: boolean): boolean {
  const share = shareOf(filter, actorClass);
  return share === "every" || share === (overdue ? "overdue" : "punctual");
}

/** Whether a state is active: a path from the root to it, ancestors included, in whatever parallel state. */
export function hasPath(value: StateValue, path: string): boolean {
  if (typeof value === "string") return value === path;
  // A key may itself hold dots, so a path is compared with keys, not split.
  return Object.keys(value).some((key) => {
    if (key === path) return true;
    const child = value[key];
    return (
      child !== undefined &&
      path.startsWith(`${key}.`) &&
      hasPath(child, path.slice(key.length + 1))
    );
  });
}

function fits(filter: Filter, actorClass: ActorClass): boolean {
  const { definitionId, family, status, state, tag } = filter;
  return (
    (definitionId === undefined || definitionId === actorClass.definitionId) &&
    (family === undefined || family === actorClass.family) &&
    (status === undefined || status === actorClass.status) &&
    (tag === undefined || actorClass.tags.includes(tag)) &&
    (state === undefined || hasPath(actorClass.stateValue, state))
  );
}
