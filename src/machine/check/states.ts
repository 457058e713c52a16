import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { STATE_TYPES, own } from "../dialect.ts";
import { checkStateKeys } from "./keys.ts";
import type { Errors, Warnings } from "./problems.ts";
import { quoted, suggestion } from "./problems.ts";
import { regions } from "./tree.ts";
import type { State, Tree } from "./tree.ts";

/** Each state by itself: its keys, its type and what the type asks for. */
export function checkStates(tree: Tree, errors: Errors): void {
  for (const state of tree.all) {
    checkStateKeys(state, errors);
    checkType(state, errors);
    checkTexts(state, errors);
    if (state.type === "compound") checkInitial(state, errors);
    if (state.type === "history") checkHistory(state, errors);
  }
  checkActiveLeaves(tree, errors);
}

function checkType(state: State, errors: Errors): void {
  const type = own(state.config, "type");
  const place = at(state.pointer, "type");
  if (type !== undefined && !STATE_TYPES.some((name) => name === type)) {
    errors.add(place, "unknown_type", () => {
      const near = typeof type === "string" ? suggestion(type, STATE_TYPES) : "";
      return `A state's type is one of ${STATE_TYPES.join(", ")}.${near}`;
    });
    return;
  }
  if (state.parent === null && (state.type === "final" || state.type === "history")) {
    errors.add(
      place,
      "invalid_root",
      `The root cannot be a ${state.type} state; leave \`type\` out.`,
    );
  }
  const count = state.children.size;
  if (state.type === "atomic" && count > 0) {
    errors.add(
      place,
      "misplaced_states",
      "A state with states is compound or parallel; leave `type` out.",
    );
  }
  if (state.type === "compound" && count === 0) {
    errors.add(place, "missing_states", "A compound state needs `states` and `initial`.");
  }
  if (state.type === "parallel" && regions(state).length === 0) {
    errors.add(
      place,
      "missing_states",
      "A parallel state needs `states`, all of which are active at once.",
    );
  }
}

function checkTexts({ config, pointer, parent }: State, errors: Errors): void {
  const description = own(config, "description");
  if (description !== undefined && typeof description !== "string") {
    errors.add(at(pointer, "description"), "invalid_value", "`description` must be a string.");
  }
  const id = own(config, "id");
  if (parent !== null && id !== undefined) checkStateId(id, at(pointer, "id"), errors);
  const tags = own(config, "tags");
  if (tags === undefined) return;
  const list: readonly JsonValue[] = Array.isArray(tags) ? tags : [tags];
  if (!list.every((tag) => typeof tag === "string")) {
    errors.add(
      at(pointer, "tags"),
      "invalid_value",
      "`tags` must be a string or an array of strings.",
    );
  }
}

function checkStateId(id: JsonValue, pointer: string, errors: Errors): void {
  if (typeof id !== "string" || id === "" || id.length > LIMITS.nameChars) {
    errors.add(
      pointer,
      "invalid_id",
      `A state's \`id\` must be a string of 1 to ${LIMITS.nameChars} characters (limit nameChars).`,
    );
  } else if (id.startsWith("#")) {
    errors.add(
      pointer,
      "invalid_id",
      () => `Write the id without '#'; only targets have it: ${quoted(id.slice(1))}.`,
    );
  }
}

function checkInitial(state: State, errors: Errors): void {
  const initial = own(state.config, "initial");
  const place = at(state.pointer, "initial");
  const keys = [...state.children.keys()];
  if (initial === undefined) {
    errors.add(
      state.pointer,
      "missing_initial",
      () => `A compound state needs \`initial\`.${firstOf(keys)}`,
    );
    return;
  }
  if (typeof initial !== "string") {
    errors.add(place, "invalid_value", () =>
      isJsonObject(initial)
        ? "Write `initial` as the key of a state, and its actions as the `entry` of that state."
        : "`initial` must be the key of one of the states.",
    );
    return;
  }
  const child = state.children.get(initial);
  if (child === undefined) {
    errors.add(place, "unknown_initial", () => {
      const near = suggestion(initial, keys) || firstOf(keys);
      return `There is no state ${quoted(initial)} under \`states\` here; \`initial\` is the key of a direct child.${near}`;
    });
  } else if (child.type === "history") {
    errors.add(
      place,
      "initial_is_history",
      "A history state cannot be initial: nothing has been there yet. Name the state that it would lead to.",
    );
  }
}

function firstOf(keys: readonly string[]): string {
  const first = keys.find((key) => key !== "");
  return first === undefined ? "" : ` Try "initial": ${JSON.stringify(first.slice(0, 80))}.`;
}

function checkHistory(state: State, errors: Errors): void {
  const history = own(state.config, "history");
  if (history !== undefined && history !== "shallow" && history !== "deep" && history !== true) {
    errors.add(
      at(state.pointer, "history"),
      "invalid_value",
      '`history` must be "shallow" or "deep".',
    );
  }
}

function checkActiveLeaves(tree: Tree, errors: Errors): void {
  const leaves = mostActiveLeaves(tree.root);
  if (leaves <= LIMITS.activeLeaves) return;
  errors.add(
    "",
    "too_many_regions",
    `Up to ${leaves} states without children would be active at once; the limit activeLeaves is ${LIMITS.activeLeaves}.`,
  );
}

/** How many states without children can be active at once, at most. */
export function mostActiveLeaves(state: State): number {
  const below = regions(state).map(mostActiveLeaves);
  if (below.length === 0) return 1;
  if (state.type === "parallel") return below.reduce((sum, leaves) => sum + leaves, 0);
  return Math.max(...below);
}

/** The root's own keys. */
export function checkRoot(root: State, errors: Errors): void {
  const { config } = root;
  for (const key of ["version", "$schema"]) {
    const text = own(config, key);
    if (text !== undefined && typeof text !== "string") {
      errors.add(`/${key}`, "invalid_value", `\`${key}\` must be a string.`);
    }
  }
}

export function checkOptions(config: JsonObject, errors: Errors, warnings: Warnings): void {
  const options = own(config, "options");
  if (options === undefined) return;
  if (!isJsonObject(options)) {
    errors.add("/options", "invalid_value", "`options` must be an object.");
    return;
  }
  for (const key of Object.keys(options)) {
    const place = at("/options", key);
    if (key === "maxIterations") {
      warnings.add(
        place,
        "max_iterations_ignored",
        `\`maxIterations\` is always ${LIMITS.microsteps} here (limit microsteps); leave it out.`,
      );
    } else {
      errors.add(place, "unknown_key", () => `There is no option ${quoted(key)} here.`);
    }
  }
}
