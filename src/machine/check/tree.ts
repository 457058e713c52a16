import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { own, stateType } from "../dialect.ts";
import type { StateType } from "../dialect.ts";
import type { ErrorCode } from "./codes.ts";
import type { Errors } from "./problems.ts";
import { quoted } from "./problems.ts";

export interface State {
  readonly key: string;
  /** Keys from the root, joined by dots; "" is the root. */
  readonly path: string;
  readonly pointer: string;
  readonly config: JsonObject;
  readonly type: StateType;
  readonly id: string;
  readonly parent: State | null;
  readonly children: ReadonlyMap<string, State>;
}

export interface Tree {
  readonly root: State;
  /** In document order, the root first. */
  readonly all: readonly State[];
  /** The last one of an id, as XState has it; that there is only one is an error of its own. */
  readonly byId: ReadonlyMap<string, State>;
}

/** Reads the states of a definition. Null when there are too many to look at. */
export function readTree(definition: JsonObject, errors: Errors): Tree | null {
  const reader = new TreeReader(definition, errors);
  const root = reader.read(definition, "", [], null, 0);
  return root === null ? null : { root, all: reader.all, byId: reader.byId };
}

class TreeReader {
  readonly all: State[] = [];
  readonly byId = new Map<string, State>();
  readonly #errors: Errors;
  readonly #machineId: string;

  constructor(definition: JsonObject, errors: Errors) {
    this.#errors = errors;
    this.#machineId = explicitId(definition) ?? "(machine)";
  }

  read(
    config: JsonObject,
    pointer: string,
    keys: readonly string[],
    parent: State | null,
    depth: number,
  ): State | null {
    const children = new Map<string, State>();
    const state: State = {
      key: keys.at(-1) ?? this.#machineId,
      path: keys.join("."),
      pointer,
      config,
      type: stateType(config),
      id: explicitId(config) ?? [this.#machineId, ...keys].join("."),
      parent,
      children,
    };
    if (this.all.push(state) > LIMITS.statesPerDefinition + 1) {
      return this.#tooMany(
        "",
        "too_many_states",
        `A definition may have ${LIMITS.statesPerDefinition} states (limit statesPerDefinition); split the machine.`,
      );
    }
    if (depth > LIMITS.stateDepth) {
      return this.#tooMany(
        pointer,
        "too_many_levels",
        `States may be nested ${LIMITS.stateDepth} levels deep (limit stateDepth).`,
      );
    }
    this.#note(state);
    const below = at(pointer, "states");
    const states = own(config, "states");
    if (states === undefined) return state;
    if (!isJsonObject(states)) {
      this.#errors.add(below, "invalid_value", "`states` must be an object of states by key.");
      return state;
    }
    for (const [key, child] of Object.entries(states)) {
      const place = at(below, key);
      this.#checkKey(key, place);
      const read = this.#child(child, place);
      const node = this.read(read, place, [...keys, key], state, depth + 1);
      if (node === null) return null;
      children.set(key, node);
    }
    return state;
  }

  #note(state: State): void {
    const other = this.byId.get(state.id);
    if (other !== undefined) {
      this.#errors.add(
        explicitId(state.config) === undefined ? state.pointer : at(state.pointer, "id"),
        "duplicate_id",
        () =>
          `The id ${quoted(state.id)} also belongs to ${described(other)}; give one of them another \`id\`.`,
      );
    }
    this.byId.set(state.id, state);
  }

  #checkKey(key: string, pointer: string): void {
    const fault = stateKeyFault(key);
    if (fault === null) return;
    this.#errors.add(
      pointer,
      "invalid_state_key",
      () => `The state key ${quoted(key)} ${fault}; choose another one.`,
    );
  }

  #child(config: JsonValue, pointer: string): JsonObject {
    if (isJsonObject(config)) return config;
    this.#errors.add(
      pointer,
      "invalid_value",
      "A state must be an object; an empty one is written {}.",
    );
    return {};
  }

  #tooMany(pointer: string, code: ErrorCode, message: string): null {
    this.#errors.add(pointer, code, message);
    return null;
  }
}

function explicitId(config: JsonObject): string | undefined {
  const id = own(config, "id");
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Paths, targets and stored snapshots are made of state keys, so some characters cannot be in them. */
function stateKeyFault(key: string): string | null {
  if (key === "") return "is empty";
  if (key === "__proto__") return "is taken by JavaScript";
  if (key.length > LIMITS.stateKeyChars) {
    return `is longer than ${LIMITS.stateKeyChars} characters (limit stateKeyChars)`;
  }
  if (/^[#@]/.test(key)) return "begins with a character that means something else in a target";
  if (/[.\\\p{Cc}]/u.test(key)) return "contains a dot, a backslash or a control character";
  return null;
}

/** A state in a sentence. */
export function described(state: State): string {
  return state.parent === null ? "the root" : `the state ${quoted(state.path)}`;
}

/** Children that can be active: all but history states. */
export function regions(state: State): State[] {
  return [...state.children.values()].filter((child) => child.type !== "history");
}
