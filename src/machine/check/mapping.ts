import type { Problem } from "../../base/errors.ts";
import { RESERVED_DATA_KEY, bytesOver, canonicalJson } from "../../base/json.ts";
import { dataFault, isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { implementations } from "../../implementations/index.ts";
import type { CompiledMachine } from "../compile.ts";
import { stepsOf } from "../context-mapping.ts";
import { isExpression } from "../dialect.ts";
import type { StateNode } from "../engine-types.ts";
import { pathOf } from "../engine-types.ts";
import { commonAncestor, endsMachine, isWithin, landsOn, mappedPaths } from "../landing.ts";
import type { StateMapping } from "../landing.ts";
import { at } from "../template.ts";
import type { Check } from "./context.ts";
import { Problems, quoted, suggestion } from "./problems.ts";
import { checkTemplate } from "./templates.ts";
import { readTree } from "./tree.ts";

/**
 * Everything wrong with how actors of one definition would be carried over to another, LIMITS.problemsPerAnswer at most.
 * Never throws, whatever JSON it is given. What depends on where an actor stands is not wrong: `unlandedStates`.
 */
export function checkMapping(
  from: CompiledMachine,
  to: CompiledMachine,
  stateMapping: JsonValue,
  contextMapping: JsonValue,
): Problem[] {
  const problems = new Problems<string>();
  for (const [pointer, data] of [
    ["/stateMapping", stateMapping],
    ["/contextMapping", contextMapping],
  ] as const) {
    if (!isJsonObject(data)) {
      problems.add(pointer, "not_an_object", "A mapping is an object by paths.");
    } else if (dataFault(data, LIMITS.jsonDepth) !== null) {
      problems.add(
        pointer,
        "not_data",
        `A mapping is JSON of at most ${LIMITS.jsonDepth} levels, well-formed, without the key '${RESERVED_DATA_KEY}'.`,
      );
    }
  }
  if (!problems.none) return problems.list();
  const text = canonicalJson({ stateMapping, contextMapping });
  const bytes = bytesOver(LIMITS.mappingBytes, text);
  if (bytes > LIMITS.mappingBytes) {
    problems.add(
      "",
      "too_large",
      `The mappings have ${bytes} bytes of JSON; the limit mappingBytes is ${LIMITS.mappingBytes}.`,
    );
    return problems.list();
  }
  checkStateMapping(from, to, stateMapping as JsonObject, problems);
  checkContextMapping(to, contextMapping as JsonObject, problems);
  return problems.list();
}

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

function isLeaf({ type }: StateNode): boolean {
  return type === "atomic" || type === "final";
}

function checkStateMapping(
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

function checkContextMapping(
  to: CompiledMachine,
  mapping: JsonObject,
  problems: Problems<string>,
): void {
  if (isExpression(mapping)) {
    problems.add(
      "/contextMapping",
      "invalid_value",
      'Write the values by their paths in the context: {"total": {"@expr": "context.net + context.tax"}}.',
    );
    return;
  }
  const tree = readTree(to.definition, new Problems());
  if (tree === null) return;
  const check: Check = {
    errors: problems,
    warnings: new Problems(),
    implementations,
    tree,
    delays: new Set(),
    expressions: new Map(),
    eventTypes: new Map(),
  };
  for (const [path, value] of Object.entries(mapping)) {
    const pointer = at("/contextMapping", path);
    checkPath(mapping, path, pointer, problems);
    checkTemplate(check, value, pointer);
  }
}

function checkPath(
  mapping: JsonObject,
  path: string,
  pointer: string,
  problems: Problems<string>,
): void {
  const steps = stepsOf(path);
  const reserved = steps.find((step) => step === "__proto__" || step === RESERVED_DATA_KEY);
  if (steps.includes("")) {
    problems.add(
      pointer,
      "invalid_path",
      'A path is keys of the context joined by dots, none of them empty: "customer.name".',
    );
  } else if (reserved !== undefined) {
    problems.add(pointer, "reserved_key", `A context cannot be given the key '${reserved}'.`);
  } else if (steps.length > LIMITS.jsonDepth) {
    problems.add(
      pointer,
      "too_deep",
      `A path has at most ${LIMITS.jsonDepth} steps (limit jsonDepth).`,
    );
  } else {
    const above = steps
      .map((_, count) => steps.slice(0, count).join("."))
      .find((one) => one !== "" && Object.hasOwn(mapping, one) && !isJsonObject(mapping[one]));
    if (above === undefined) return;
    problems.add(
      pointer,
      "invalid_path",
      () => `${quoted(above)} is set to what is no object, so nothing can be set in it.`,
    );
  }
}
