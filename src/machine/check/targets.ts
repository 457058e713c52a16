import { suggestion, quoted } from "./problems.ts";
import type { State, Tree } from "./tree.ts";
import { described } from "./tree.ts";

/** What is wrong is worded only when it is shown: the search for a near name takes its time. */
type Resolution = { state: State } | { state: null; why: () => string };

/** The state that a target means, found as XState finds it, but for empty steps, which XState skips. */
export function resolveTarget(tree: Tree, source: State, target: string): Resolution {
  if (target.startsWith("#")) return resolveId(tree, target);
  if (target.startsWith(".")) return walk(tree, source, steps(target.slice(1)), target);
  if (source.parent === null) {
    const dotted = quoted(`.${target}`);
    return {
      state: null,
      why: () => `From the root a target begins with a dot or '#': write ${dotted}.`,
    };
  }
  return walk(tree, source.parent, steps(target), target);
}

/** `#id`, or `#id.child.grandchild`. */
export function resolveId(tree: Tree, reference: string): Resolution {
  const [first = "", ...rest] = steps(reference);
  const state = tree.byId.get(first.slice(1));
  if (state !== undefined) return walk(tree, state, rest, reference);
  return { state: null, why: () => unknownId(tree, first, reference) };
}

function unknownId(tree: Tree, first: string, reference: string): string {
  const dotted = [...tree.byId.keys()].find(
    (id) => id.includes(".") && (reference === `#${id}` || reference.startsWith(`#${id}.`)),
  );
  if (dotted !== undefined) {
    const escaped = `#${dotted.replaceAll(".", String.raw`\\.`)}`;
    return `The id ${quoted(dotted)} has a dot in it; in a JSON target write "${escaped.slice(0, 80)}".`;
  }
  const near = suggestion(first, idsOf(tree));
  return `No state has the id ${quoted(first.slice(1))}.${near === "" ? choice(idsOf(tree)) : near}`;
}

/** Ids worth suggesting: those that somebody wrote. */
function* idsOf(tree: Tree): Iterable<string> {
  for (const state of tree.all) {
    if (state.parent === null || Object.hasOwn(state.config, "id")) yield `#${state.id}`;
  }
}

function walk(tree: Tree, from: State, path: readonly string[], target: string): Resolution {
  let state = from;
  for (const key of path) {
    const child = state.children.get(key);
    if (key !== "" && child !== undefined) {
      state = child;
      continue;
    }
    const parent = state;
    return { state: null, why: () => missing(tree, parent, key, target) };
  }
  return { state };
}

function missing(tree: Tree, parent: State, key: string, target: string): string {
  if (key === "") return "The target has an empty step in its path.";
  const what = `There is no state ${quoted(key)} in ${described(parent)}.`;
  const near = suggestion(key, parent.children.keys());
  if (near !== "") return `${what}${near}`;
  const elsewhere = tree.all.find((state) => state.key === key && state.parent !== null);
  if (elsewhere === undefined) return `${what}${choice(parent.children.keys())}`;
  const reference = `#${tree.root.id.replaceAll(".", String.raw`\\.`)}.${elsewhere.path}`;
  if (reference === target) return what;
  return `${what} Did you mean ${quoted(reference)}?`;
}

const MOST_LISTED = 5;

/** " There are 'a' and 'b'." when there are so few that naming them helps. */
function choice(names: Iterable<string>): string {
  const all: string[] = [];
  for (const name of names) {
    if (all.length === MOST_LISTED) return "";
    all.push(quoted(name));
  }
  const last = all.pop();
  if (last === undefined) return "";
  return all.length === 0 ? ` There is only ${last}.` : ` There are ${all.join(", ")} and ${last}.`;
}

/** Splits a path at its dots; a backslash takes the next character as it is. */
function steps(path: string): string[] {
  const result: string[] = [];
  let step = "";
  for (let index = 0; index < path.length; index++) {
    if (path[index] === ".") {
      result.push(step);
      step = "";
      continue;
    }
    if (path[index] === "\\") index += 1;
    step += path[index] ?? "";
  }
  return [...result, step];
}

/** Whether all of these states can be active together: none above another, none two in one compound state. */
export function areCompatible(targets: readonly State[]): boolean {
  const ends = new Set<State>();
  const passed = new Set<State>();
  const chosen = new Map<State, State>();
  for (const target of targets) {
    // A history state stands for whatever was active in its parent.
    const end = target.type === "history" && target.parent !== null ? target.parent : target;
    if (ends.has(end) || passed.has(end)) return false;
    ends.add(end);
    for (let child = end; child.parent !== null; child = child.parent) {
      const { parent } = child;
      if (ends.has(parent)) return false;
      passed.add(parent);
      if (parent.type === "parallel") continue;
      if ((chosen.get(parent) ?? child) !== child) return false;
      chosen.set(parent, child);
    }
  }
  return true;
}

export function isWithin(state: State, ancestor: State): boolean {
  for (let node: State | null = state; node !== null; node = node.parent) {
    if (node === ancestor) return true;
  }
  return false;
}
