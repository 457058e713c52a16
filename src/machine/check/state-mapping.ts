import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import type { CompiledMachine } from "../compile.ts";
import type { StateNode } from "../engine-types.ts";
import { pathOf } from "../engine-types.ts";
import { commonAncestor, endsMachine, isWithin, landsOn, mappedPaths } from "../landing.ts";
import type { StateMapping } from "../landing.ts";
import type { Problems } from "./problems.ts";
import { quoted, suggestion } from "./problems.ts";

/** Paths of leaves of the old version, in document order, that have no place in the new one: an actor that stands there cannot be moved. */
export function unlandedStates(
  from: CompiledMachine,
  to: CompiledMachine,
  mapping: StateMapping,
): string[] {
  const leaves = [...from.nodes.values()].filter((node) => isLeaf(node) && !endsMachine(node));
  const lands = (leaf: StateNode): boolean => {
    const paths = mappedPaths(leaf, mapping);
    return paths.length > 0 && paths.every((path) => landsOn(leaf, to.nodes.get(path)));
  };
  return leaves.filter((leaf) => !lands(leaf)).map(pathOf);
}

/** Where each old state is to go, one by one. */
export function checkStateMapping(
  from: CompiledMachine,
  to: CompiledMachine,
  mapping: JsonObject,
  problems: Problems<string>,
): void {
  for (const [path, value] of Object.entries(mapping)) {
    const pointer = at("/stateMapping", path);
    const old = from.nodes.get(path);
    if (old === undefined) {
      problems.add(
        pointer,
        "unknown_state",
        () => `The old version has no state ${quoted(path)}.${suggestion(path, from.nodes.keys())}`,
      );
    }
    const targets = (Array.isArray(value) ? value : [value]) as JsonValue[];
    if (targets.length === 0 || targets.length > LIMITS.activeLeaves) {
      problems.add(
        pointer,
        "invalid_value",
        `A list has 1 to ${LIMITS.activeLeaves} paths of new states.`,
      );
      continue;
    }
    const nodes: StateNode[] = [];
    targets.forEach((target, index) => {
      const place = Array.isArray(value) ? at(pointer, index) : pointer;
      const node = checkTarget(to, old, target, place, problems);
      if (node !== undefined) nodes.push(node);
    });
    checkTogether(nodes, pointer, problems);
  }
}

function isLeaf({ type }: StateNode): boolean {
  return type === "atomic" || type === "final";
}

function checkTarget(
  to: CompiledMachine,
  old: StateNode | undefined,
  target: JsonValue,
  pointer: string,
  problems: Problems<string>,
): StateNode | undefined {
  if (typeof target !== "string") {
    problems.add(pointer, "invalid_value", "Write the path of a new state, or a list of paths.");
    return undefined;
  }
  const node = to.nodes.get(target);
  if (node === undefined) {
    problems.add(
      pointer,
      "unknown_target",
      () => `The new version has no state ${quoted(target)}.${suggestion(target, to.nodes.keys())}`,
    );
    return undefined;
  }
  const name = quoted(target || "the root");
  if (old !== undefined && (old.type === "history") !== (node.type === "history")) {
    const message =
      node.type === "history"
        ? "is a history state, which nobody can stand in"
        : "is no history state, and the old one is";
    problems.add(pointer, "invalid_target", () => `${name} ${message}.`);
  } else if (old !== undefined && isLeaf(old) && !isLeaf(node)) {
    problems.add(
      pointer,
      "state_has_children",
      () => `${name} has states of its own, which the old one has not; name one of them.`,
    );
  } else if (old?.type === "atomic" && node.type === "final") {
    problems.add(
      pointer,
      "state_final",
      () => `${name} is final, and the old state is not: nothing would tell of the end.`,
    );
  } else if (old?.type === "final" && endsMachine(node) && !endsMachine(old)) {
    problems.add(pointer, "state_final", () => `The machine would be finished in ${name}.`);
  }
  return node;
}

/** Of the states of one list each must be in a region of its own. */
function checkTogether(
  nodes: readonly StateNode[],
  pointer: string,
  problems: Problems<string>,
): void {
  for (const [index, node] of nodes.entries()) {
    const other = nodes.slice(0, index).find((one) => !together(one, node));
    if (other === undefined) continue;
    problems.add(
      at(pointer, index),
      "states_clash",
      () =>
        `${quoted(pathOf(other))} and ${quoted(pathOf(node))} are not in two regions of one parallel state.`,
    );
  }
}

function together(one: StateNode, other: StateNode): boolean {
  if (isWithin(one, other) || isWithin(other, one)) return false;
  return commonAncestor([one, other])?.type === "parallel";
}
