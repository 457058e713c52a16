import { PerdureError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { Problems, quoted } from "./check/problems.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import { readHistory } from "./snapshot-history.ts";
import type { MachineState, StateValue } from "./types.ts";

const KNOWN = ["status", "value", "context", "historyValue", "children", "output", "error", "tags"];

/**
 * Reads a snapshot that people persisted elsewhere: XState v5's own, or `{value, context}`. XState repairs
 * or drops silently what does not fit; here everything must fit. Throws `snapshot_invalid` with all problems.
 */
export function readSnapshot(machine: CompiledMachine, snapshot: JsonObject): MachineState {
  const problems = new Problems<string>();
  const refuse: Refuse = (pointer, code, message) => problems.add(pointer, code, message);
  for (const key of Object.keys(snapshot)) {
    if (!KNOWN.includes(key)) {
      refuse(
        at("", key),
        "unknown_field",
        "Send XState v5's persisted snapshot, or only value and context.",
      );
    }
  }
  const status = snapshot["status"] ?? "active";
  if (status !== "active") {
    refuse("/status", "not_active", "Only an active snapshot can live on; this one has ended.");
  }
  const children = snapshot["children"] ?? {};
  if (!isJsonObject(children) || Object.keys(children).length > 0) {
    refuse("/children", "children", "Children cannot be adopted; let them end first.");
  }
  const context = snapshot["context"] ?? {};
  if (!isJsonObject(context)) refuse("/context", "not_an_object", "The context must be an object.");
  const root = machine.nodes.get("") as StateNode;
  checkValue(root, snapshot["value"], "/value", refuse);
  if (problems.none && isDone(root, snapshot["value"] as StateValue)) {
    refuse("/value", "not_active", "The machine is finished there; it cannot live on.");
  }
  const history = readHistory(machine, snapshot["historyValue"] ?? {}, refuse);
  if (!problems.none) {
    const errors = problems.list();
    throw new PerdureError(
      "snapshot_invalid",
      `The snapshot does not fit the definition: ${errors[0]?.message}`,
      { errors },
    );
  }
  return {
    status: "active",
    value: snapshot["value"] as StateValue,
    context: context as JsonObject,
    history,
  };
}

/** Takes a problem; a message that is long to word is given as a function. */
export type Refuse = (pointer: string, code: string, message: string | (() => string)) => void;

function checkValue(
  node: StateNode,
  value: JsonValue | undefined,
  pointer: string,
  refuse: Refuse,
): void {
  const name = pathOf(node) || "the machine";
  const states = Object.values(node.states).filter(({ type }) => type !== "history");
  const keyOf = (child: StateNode): string => child.path.at(-1) as string;
  const chosen = typeof value === "string" ? { [value]: undefined } : value;
  if (!isJsonObject(chosen as JsonValue)) {
    return refuse(
      pointer,
      "value",
      `A state value is a state's key or an object; ${name} has ${list(states.map(keyOf))}.`,
    );
  }
  const keys = Object.keys(chosen as object);
  const expected = node.type === "parallel" ? states.map(keyOf) : null;
  if (expected === null && keys.length !== 1) {
    return refuse(pointer, "value", `Exactly one state of ${name} can be active.`);
  }
  for (const key of expected ?? []) {
    if (!keys.includes(key))
      refuse(at(pointer, key), "value", `The region '${key}' of ${name} is missing.`);
  }
  for (const key of keys) {
    const child = states.find((state) => keyOf(state) === key);
    const below = (chosen as JsonObject)[key];
    if (child === undefined) {
      refuse(
        at(pointer, key),
        "value",
        () => `${name} has no state ${quoted(key)}; it has ${list(states.map(keyOf))}.`,
      );
    } else if (child.type === "compound" || child.type === "parallel") {
      if (below === undefined) {
        refuse(
          at(pointer, key),
          "value",
          `'${pathOf(child)}' has states of its own; name the active one.`,
        );
      } else checkValue(child, below, at(pointer, key), refuse);
    } else if (isJsonObject(below) ? Object.keys(below).length > 0 : below !== undefined) {
      refuse(at(pointer, key), "value", `'${pathOf(child)}' has no states below it.`);
    }
  }
}

/** Whether a state is done where it stands, as XState has it: in a final child, or in every region. */
export function isDone(node: StateNode, value: StateValue): boolean {
  const chosen: { readonly [key: string]: StateValue } =
    typeof value === "string" ? { [value]: {} } : value;
  const children = Object.keys(chosen).map((key) => node.states[key] as StateNode);
  if (node.type !== "parallel") return children.some(({ type }) => type === "final");
  return children.every((child) => {
    const below = chosen[child.path.at(-1) as string] as StateValue;
    return child.type === "final" || isDone(child, below);
  });
}

function list(keys: string[]): string {
  return keys.map((key) => `'${key}'`).join(", ") || "none";
}
