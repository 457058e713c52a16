import { quoted } from "./check/problems.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import { isDone } from "./snapshot.ts";
import type { StateValue } from "./types.ts";

/** Path of an old state → path, or paths, of new ones; "" is the root. What is below follows by the same names. */
export interface StateMapping {
  readonly [path: string]: string | readonly string[];
}

export type LandingCode =
  | "state_missing"
  | "state_has_children"
  | "region_missing"
  | "states_clash"
  | "state_final";

export interface Landed {
  ok: true;
  /** In document order. */
  value: StateValue;
  /** Where an old state stands now that was active: paths of new states that are active. Empty where nowhere. */
  pathOf(old: string): string[];
  /** The other way: the old states that were active and stand here now, in document order. */
  oldOf(path: string): string[];
}
type Landing = Landed | { ok: false; code: LandingCode; message: string };

/**
 * Where a state value of one definition stands in another. Each leaf goes where the longest key that is its path
 * or an ancestor's says, or stays. Together they must be one configuration that the new machine can be in: nothing is
 * entered, left out or put right.
 */
export function landingOf(
  from: CompiledMachine,
  to: CompiledMachine,
  value: StateValue,
  mapping: StateMapping,
): Landing {
  const leaves = leavesOf(from.nodes.get("") as StateNode, value);
  const active = new Set<StateNode>();
  for (const leaf of leaves) {
    const paths = mappedPaths(leaf, mapping);
    if (paths.length === 0) {
      return refused("state_missing", `${quoted(pathOf(leaf))}: the mapping leads nowhere.`);
    }
    for (const path of paths) {
      const fault = leafFault(leaf, path, to.nodes.get(path));
      if (fault !== null) return fault;
      addWithAncestors(active, to.nodes.get(path) as StateNode);
    }
  }
  const root = to.nodes.get("") as StateNode;
  const fault = configurationFault(root, active);
  if (fault !== null) return fault;
  const landed = valueOf(root, active);
  if (isDone(root, landed)) {
    return refused("state_final", "The machine would be finished where it lands.");
  }
  const before = activeNodes(from, value);
  const pathsOf = (node: StateNode): string[] =>
    mappedPaths(node, mapping).filter((path) => {
      const place = to.nodes.get(path);
      return place !== undefined && active.has(place);
    });
  return {
    ok: true,
    value: landed,
    pathOf: (old) => {
      const node = from.nodes.get(old);
      return node !== undefined && before.has(node) ? pathsOf(node) : [];
    },
    oldOf: (path) => [...before].filter((node) => pathsOf(node).includes(path)).map(pathOf),
  };
}

/** The states without children that a value has active. A value that does not fit the machine ends at the last state that it has. */
function leavesOf(node: StateNode, value: StateValue): StateNode[] {
  const below = typeof value === "string" ? [value] : Object.keys(value);
  if (below.length === 0) return [node];
  return below.flatMap((key) => {
    const child = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    if (child === undefined) return [node];
    return leavesOf(child, typeof value === "string" ? {} : (value[key] as StateValue));
  });
}

/** Every state that a value has active, in document order, ancestors and the root included. */
export function activeNodes(machine: CompiledMachine, value: StateValue): Set<StateNode> {
  const active = new Set<StateNode>();
  for (const leaf of leavesOf(machine.nodes.get("") as StateNode, value)) {
    addWithAncestors(active, leaf);
  }
  return new Set([...machine.nodes.values()].filter((node) => active.has(node)));
}

/** Where a state's own key, or else that of its nearest ancestor that has one, leads: whether or not there is such a state. */
export function mappedPaths(node: StateNode, mapping: StateMapping): string[] {
  for (let above: StateNode | undefined = node; above !== undefined; above = above.parent) {
    const key = pathOf(above);
    if (!Object.hasOwn(mapping, key)) continue;
    const given = mapping[key] as string | readonly string[];
    const rest = node.path.slice(above.path.length);
    const targets = typeof given === "string" ? [given] : given;
    return [...new Set(targets.map((target) => joined(target, rest)))];
  }
  return [pathOf(node)];
}

function joined(path: string, rest: readonly string[]): string {
  return (path === "" ? rest : [path, ...rest]).join(".");
}

function addWithAncestors(nodes: Set<StateNode>, leaf: StateNode): void {
  for (let node: StateNode | undefined = leaf; node !== undefined; node = node.parent) {
    nodes.add(node);
  }
}

type Refused = Extract<Landing, { ok: false }>;

function refused(code: LandingCode, message: string): Refused {
  return { ok: false, code, message };
}

/** Whether an old state without children can stand on a new one, whatever else is active. */
export function landsOn(leaf: StateNode, place: StateNode | undefined): boolean {
  if (place?.type === "final") return leaf.type === "final" && !endsMachine(place);
  return place?.type === "atomic";
}

/** Whether the machine is finished as soon as this state is active. */
export function endsMachine({ type, parent }: StateNode): boolean {
  return type === "final" && parent?.type === "compound" && parent.parent === undefined;
}

function leafFault(leaf: StateNode, path: string, place: StateNode | undefined): Refused | null {
  const to = path === pathOf(leaf) ? quoted(path) : `${quoted(pathOf(leaf))} → ${quoted(path)}`;
  switch (place?.type) {
    case undefined:
      return refused("state_missing", `${to}: the new version has no such state.`);
    case "history":
      return refused("state_missing", `${to}: a history state is none to stand in.`);
    case "compound":
    case "parallel":
      return refused("state_has_children", `${to}: it has states of its own; map to one of them.`);
    case "final":
      if (leaf.type === "final") return null;
      return refused("state_final", `${to}: it is final there; nothing would tell of the end.`);
    default:
      return null;
  }
}

function configurationFault(node: StateNode, active: ReadonlySet<StateNode>): Refused | null {
  const children = childrenOf(node);
  const here = children.filter((child) => active.has(child));
  const name = quoted(pathOf(node) || "the root");
  if (node.type === "compound" && here.length > 1) {
    const names = here.map((child) => quoted(pathOf(child)));
    return refused("states_clash", `${names.slice(0, 2).join(" and ")} cannot both be active.`);
  }
  if (node.type === "parallel" && here.length < children.length) {
    const missing = children.find((child) => !active.has(child)) as StateNode;
    return refused(
      "region_missing",
      `${name}: nothing lands in its region ${quoted(pathOf(missing))}.`,
    );
  }
  if (node.type === "compound" && here.length === 0) {
    return refused("state_missing", `${name}: nothing lands in it.`);
  }
  for (const child of here) {
    const fault = configurationFault(child, active);
    if (fault !== null) return fault;
  }
  return null;
}

function childrenOf(node: StateNode): StateNode[] {
  return Object.values(node.states).filter(({ type }) => type !== "history");
}

function valueOf(node: StateNode, active: ReadonlySet<StateNode>): StateValue {
  const here = childrenOf(node).filter((child) => active.has(child));
  const [only] = here;
  if (node.type === "compound" && only !== undefined && childrenOf(only).length === 0) {
    return keyOf(only);
  }
  return Object.fromEntries(here.map((child) => [keyOf(child), valueOf(child, active)]));
}

function keyOf(node: StateNode): string {
  return node.path.at(-1) as string;
}

/** Whether a state is another one or below it. */
export function isWithin(node: StateNode, ancestor: StateNode): boolean {
  let above: StateNode | undefined = node;
  while (above !== undefined && above !== ancestor) above = above.parent;
  return above !== undefined;
}

/** The nearest state that all of these are below. */
export function commonAncestor([first, ...others]: StateNode[]): StateNode | undefined {
  let above = first?.parent;
  while (above !== undefined) {
    const ancestor: StateNode = above;
    if (others.every((node) => node !== ancestor && isWithin(node, ancestor))) return ancestor;
    above = ancestor.parent;
  }
  return undefined;
}
