import type { JsonObject } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { ROOT_KEYS, STATE_KEYS } from "../dialect.ts";
import type { Errors } from "./problems.ts";
import { capitalised, quoted, suggestion } from "./problems.ts";
import type { State } from "./tree.ts";

/** Keys of XState v4 (and of v5's code-only parts) with what to write instead. */
type Instead = Readonly<Record<string, string>>;

const IN_CODE = "implementations live in the Worker's code; write an expression here";

const INSTEAD_OF_STATE_KEYS: Instead = {
  onEntry: "write `entry`",
  onExit: "write `exit`",
  activities: "write `invoke`",
  data: "write `output`",
  parallel: 'write `"type": "parallel"`',
  cond: "a `guard` belongs to a transition",
  key: "the key under `states` is the state's key",
  order: "states keep the order in which they are written",
  delimiter: "the delimiter is always a dot",
  transitions: "write `on`",
  strict: "leave it out; events that nobody handles are recorded as such",
  internal: "transitions are internal unless they say `reenter`",
  route: "give the states events of their own",
  actions: IN_CODE,
  guards: IN_CODE,
  services: IN_CODE,
  actors: IN_CODE,
  implementations: IN_CODE,
  activity: "write `invoke`",
  schema: "leave it out; types are not part of a definition",
  schemas: "leave it out; types are not part of a definition",
  types: "leave it out; types are not part of a definition",
  tsTypes: "leave it out; types are not part of a definition",
  predictableActionArguments: "leave it out; it is always so",
  preserveActionOrder: "leave it out; it is always so",
};

export const INSTEAD_OF_TRANSITION_KEYS: Instead = {
  cond: "write `guard`",
  internal: "leave it out, or write `reenter: true` for what was `internal: false`",
  external: "write `reenter: true`",
  in: 'write `"guard": {"type": "xstate.stateIn", "params": {"stateId": "#id"}}`',
  delay: 'write the delay as the key: `"after": {"1000": …}`',
  data: "give it to the action as `params`",
};

export const INSTEAD_OF_INVOKE_KEYS: Instead = {
  data: "write `input`",
  autoForward: "leave it out; send the events on yourself",
  onSnapshot: "leave it out; an activity answers once",
  systemId: "leave it out; an activity is known by its `id`",
  type: "write the source's name as `src`",
};

export const INSTEAD_OF_ACTION_KEYS: Instead = {
  exec: IN_CODE,
  assignment: "write `context`",
  cond: "a `guard` belongs to the transition",
};

export const INSTEAD_OF_GUARD_KEYS: Instead = {
  predicate: IN_CODE,
  name: "write `type`",
  cond: "write the guard itself",
};

/** Reports the keys of an object that are not among those known. */
export function checkKeys(
  object: JsonObject,
  pointer: string,
  known: readonly string[],
  what: string,
  instead: Instead,
  errors: Errors,
): void {
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue;
    const place = at(pointer, key);
    if (Object.hasOwn(instead, key)) {
      errors.add(place, "old_key", `${what} has no \`${key}\`: ${instead[key]}.`);
    } else {
      errors.add(
        place,
        "unknown_key",
        () => `${what} has no key ${quoted(key)}.${suggestion(key, known)}`,
      );
    }
  }
}

export function checkStateKeys(state: State, errors: Errors): void {
  const { config, type, pointer } = state;
  const isRoot = state.parent === null;
  const known: string[] = [...STATE_KEYS[type], ...(isRoot ? ROOT_KEYS : [])].filter(
    (key) => !(isRoot && key === "onDone"),
  );
  const misplaced = new Set<string>();
  for (const key of Object.keys(config)) {
    if (known.includes(key)) continue;
    const reason = whyNotHere(key, state);
    if (reason === null) continue;
    misplaced.add(key);
    const code = key === "initial" ? "initial_not_allowed" : "misplaced_key";
    errors.add(at(pointer, key), code, `\`${key}\` ${reason}.`);
  }
  const rest = Object.fromEntries(Object.entries(config).filter(([key]) => !misplaced.has(key)));
  checkKeys(rest, pointer, known, nameOf(state), INSTEAD_OF_STATE_KEYS, errors);
}

/** For keys that other states have. */
function whyNotHere(key: string, { type, parent }: State): string | null {
  switch (key) {
    case "initial":
      if (type === "parallel")
        return "has no place here: all states of a parallel state are active";
      return `has no place here: ${nameOfType(type)} has no states to begin in`;
    case "onDone":
      if (parent === null) return "of the root never fires; read the actor's status `done` instead";
      return "belongs to a state that has states, or inside `invoke`";
    case "output":
      return "belongs to final states and the root";
    case "history":
    case "target":
      return `belongs to history states; ${nameOfType(type)} goes elsewhere by \`on\`, \`always\` or \`after\``;
    default:
      if (ROOT_KEYS.some((name) => name === key)) return "belongs to the root";
      if (!STATE_KEYS.compound.includes(key)) return null;
      return `has no place in ${nameOfType(type)}`;
  }
}

function nameOf(state: State): string {
  return state.parent === null ? "The root" : `${capitalised(nameOfType(state.type))}`;
}

function nameOfType(type: State["type"]): string {
  return type === "atomic" ? "a state without states" : `a ${type} state`;
}
