import { isJsonObject } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import type { Refuse } from "./snapshot.ts";
import type { MachineState } from "./types.ts";

/** XState's `historyValue`, by paths. Each history state leads back to states that could have been active at once. */
export function readHistory(
  machine: CompiledMachine,
  value: JsonValue,
  refuse: Refuse,
): MachineState["history"] {
  const history: Record<string, string[]> = {};
  if (!isJsonObject(value)) {
    refuse("/historyValue", "history", "The history must be an object by history state.");
    return history;
  }
  const byId = new Map([...machine.nodes.values()].map((node) => [node.id, node]));
  for (const [id, items] of Object.entries(value)) {
    const pointer = at("/historyValue", id);
    const node = byId.get(id);
    if (node?.type !== "history") {
      refuse(pointer, "history", "There is no history state with this id.");
      continue;
    }
    const targets = (Array.isArray(items) ? items : []).map((item: JsonValue) =>
      isJsonObject(item) ? byId.get(String(item["id"])) : undefined,
    );
    const known = targets.filter((target) => target !== undefined);
    const parent = node.parent as StateNode;
    const whole = known.length === targets.length && new Set(known).size === known.length;
    if (whole && remembers(parent, node.history === "deep", known)) {
      history[pathOf(node)] = known.map(pathOf);
    } else {
      refuse(
        pointer,
        "history",
        node.history === "deep"
          ? "A deep history remembers the ids of all states without children that were active below its parent."
          : "A shallow history remembers the ids of the children of its parent that were active.",
      );
    }
  }
  return history;
}

/** Whether these states below `parent` can be active at once and are all that XState remembers of it. */
export function remembers(
  parent: StateNode,
  deep: boolean,
  targets: readonly StateNode[],
): boolean {
  const children = Object.values(parent.states).filter(({ type }) => type !== "history");
  const active = children
    .map((child) => ({ child, below: targets.filter((target) => isWithin(child, target)) }))
    .filter(({ below }) => below.length > 0);
  const count = active.reduce((sum, { below }) => sum + below.length, 0);
  // Something among the targets is not below this parent.
  if (count !== targets.length) return false;
  if (active.length !== (parent.type === "parallel" ? children.length : 1)) return false;
  return active.every(({ child, below }) => {
    const stops = !deep || Object.keys(child.states).length === 0;
    return stops ? below.length === 1 && below[0] === child : remembers(child, deep, below);
  });
}

function isWithin(ancestor: StateNode, node: StateNode): boolean {
  return ancestor.path.every((key, depth) => node.path[depth] === key);
}
