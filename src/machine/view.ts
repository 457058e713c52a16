import type { JsonObject } from "../base/json.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import type { Live } from "./live.ts";

/** Tags of all active states, sorted. */
export function tagsOf(live: Live): string[] {
  return [...(live.tags as Set<string>)].sort();
}

/** `meta` of active states by state id, as XState gives it. */
export function metaOf(live: Live): JsonObject {
  return live.getMeta() as JsonObject;
}

/** Paths of all active states, ancestors included, without the root. */
export function activePaths(live: Live): Set<string> {
  return new Set(live._nodes.filter((node) => node.path.length > 0).map(pathOf));
}

/**
 * Event descriptors that have a handler in the present state, guards not evaluated, sorted. A forbidden
 * transition hides what its ancestors would do, as it does when the event comes.
 */
export function nextEvents(live: Live): string[] {
  if (live.status !== "active") return [];
  const handled = new Set<string>();
  for (const leaf of live._nodes) {
    if (leaf.type !== "atomic" && leaf.type !== "final") continue;
    const forbidden = new Set<string>();
    for (let node: StateNode | undefined = leaf; node; node = node.parent) {
      for (const [descriptor, transitions] of node.transitions) {
        if (descriptor.startsWith("xstate.") || forbidden.has(descriptor)) continue;
        const acts = transitions.some(({ target, actions }) => target || actions.length > 0);
        if (acts) handled.add(descriptor);
        else forbidden.add(descriptor);
      }
    }
  }
  return [...handled].sort();
}
