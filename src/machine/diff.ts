import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { invokeId, listed, own } from "./dialect.ts";

interface DefinitionDiff {
  /** Paths. */
  statesAdded: string[];
  statesRemoved: string[];
  /**
   * Of states that are in both. `event` is the descriptor, or `@always`, `@timer:<delay>`, `@done`
   * (the state's own), `@done:<invoke id>`, `@error:<invoke id>`; `state` is a path, "" the root.
   */
  transitionsChanged: {
    state: string;
    event: string;
    from: JsonValue | null;
    to: JsonValue | null;
  }[];
  initialChanged: { state: string; from: string | null; to: string | null }[];
}

/**
 * What changed in the behaviour of states from one definition to another. Ways of writing the same
 * (a target alone, an object, an array of one) are one; descriptions and `meta` do not count.
 */
export function diffDefinitions(from: JsonObject, to: JsonObject): DefinitionDiff {
  const before = statesByPath(from);
  const after = statesByPath(to);
  const diff: DefinitionDiff = {
    statesAdded: [...after.keys()].filter((path) => !before.has(path)),
    statesRemoved: [...before.keys()].filter((path) => !after.has(path)),
    transitionsChanged: [],
    initialChanged: [],
  };
  for (const [state, old] of before) {
    const next = after.get(state);
    if (next === undefined) continue;
    const initials = { from: initialOf(old), to: initialOf(next) };
    if (initials.from !== initials.to) diff.initialChanged.push({ state, ...initials });
    const olds = transitionsOf(old, state);
    const nexts = transitionsOf(next, state);
    for (const event of new Set([...olds.keys(), ...nexts.keys()])) {
      const change = { from: olds.get(event) ?? null, to: nexts.get(event) ?? null };
      if (canonicalJson(change.from) === canonicalJson(change.to)) continue;
      diff.transitionsChanged.push({ state, event, ...change });
    }
  }
  return diff;
}

function statesByPath(definition: JsonObject): Map<string, JsonObject> {
  const states = new Map<string, JsonObject>();
  const visit = (state: JsonObject, path: string): void => {
    states.set(path, state);
    const children = own(state, "states");
    if (!isJsonObject(children)) return;
    for (const [key, child] of Object.entries(children)) {
      if (isJsonObject(child)) visit(child, path === "" ? key : `${path}.${key}`);
    }
  };
  visit(definition, "");
  return states;
}

function initialOf(state: JsonObject): string | null {
  const initial = own(state, "initial");
  return typeof initial === "string" ? initial : null;
}

function transitionsOf(state: JsonObject, path: string): Map<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  const note = (event: string, value: JsonValue | undefined): void => {
    if (value !== undefined) found.set(event, normalTransitions(value));
  };
  for (const [descriptor, value] of membersOf(own(state, "on"))) note(descriptor, value);
  for (const [delay, value] of membersOf(own(state, "after"))) note(`@timer:${delay}`, value);
  note("@always", own(state, "always"));
  note("@done", own(state, "onDone"));
  listed(own(state, "invoke"), "").forEach(({ value }, index) => {
    if (!isJsonObject(value)) return;
    const name = invokeId(value, index, path);
    note(`@done:${name}`, own(value, "onDone"));
    note(`@error:${name}`, own(value, "onError"));
  });
  return found;
}

function membersOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function normalTransitions(value: JsonValue): JsonValue {
  const all = listed(value, "").map((item) => normalTransition(item.value));
  return all.length === 1 ? (all[0] ?? null) : all;
}

function normalTransition(value: JsonValue): JsonValue {
  if (typeof value === "string") return { target: value };
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([key, member]): [string, JsonValue][] => {
    switch (key) {
      case "description":
      case "meta":
        return [];
      case "target":
        return [[key, Array.isArray(member) && member.length === 1 ? (member[0] ?? null) : member]];
      case "reenter":
        return member === true ? [[key, true]] : [];
      case "guard":
        return [[key, named(member)]];
      case "actions": {
        const actions = listed(member, "").map((action) => named(action.value));
        return actions.length === 0 ? [] : [[key, actions]];
      }
      default:
        return [[key, member]];
    }
  });
  return Object.fromEntries(members);
}

/** A name alone is short for an object with it as `type`. */
function named(value: JsonValue): JsonValue {
  return typeof value === "string" ? { type: value } : value;
}
