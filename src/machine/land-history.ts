import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import { isWithin, mappedPaths } from "./landing.ts";
import type { StateMapping } from "./landing.ts";
import { remembers } from "./snapshot-history.ts";
import type { MachineState } from "./types.ts";

/**
 * What history states remember, mapped likewise. One whose memory does not fit the new machine is left out whole;
 * `dropped` has its old path.
 */
export function landHistory(
  from: CompiledMachine,
  to: CompiledMachine,
  history: MachineState["history"],
  mapping: StateMapping,
): { history: MachineState["history"]; dropped: string[] } {
  const landed = new Map<string, string[]>();
  const dropped: string[] = [];
  for (const [path, targets] of Object.entries(history)) {
    const places = memoryOf(from, to, path, targets, mapping);
    const free = places !== null && places.every(([place]) => !landed.has(place));
    if (!free) dropped.push(path);
    else for (const [place, paths] of places) landed.set(place, paths);
  }
  return { history: Object.fromEntries(landed), dropped };
}

/** New history states with what they remember, or null when it does not fit. */
function memoryOf(
  from: CompiledMachine,
  to: CompiledMachine,
  path: string,
  targets: readonly string[],
  mapping: StateMapping,
): [string, string[]][] | null {
  const [old, ...remembered] = [path, ...targets].map((one) => from.nodes.get(one));
  if (old === undefined || remembered.includes(undefined)) return null;
  const states = new Set<StateNode>();
  for (const target of remembered) {
    for (const place of mappedPaths(target as StateNode, mapping)) {
      const node = to.nodes.get(place);
      if (node === undefined) return null;
      states.add(node);
    }
  }
  const places: [string, string[]][] = [];
  for (const place of mappedPaths(old, mapping)) {
    const node = to.nodes.get(place);
    const parent = node?.parent;
    if (node?.type !== "history" || parent === undefined) return null;
    const within = [...states].filter((state) => isWithin(state, parent));
    if (!remembers(parent, node.history === "deep", within)) return null;
    places.push([place, within.map(pathOf)]);
  }
  const kept = new Set(places.flatMap(([, paths]) => paths));
  return places.length > 0 && kept.size === states.size ? places : null;
}
