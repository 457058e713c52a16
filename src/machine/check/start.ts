import { assign, createMachine, initialTransition, raise } from "xstate";
import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { listed, own } from "../dialect.ts";
import type { StateValue } from "../types.ts";
import { assignsIn, raisesIn } from "./raises.ts";
import type { State, Tree } from "./tree.ts";

export type Start =
  /** Where the machine comes to rest, or where it depends on a guard how it goes on. */
  | { kind: "state"; value: StateValue; done: boolean }
  | { kind: "endless" }
  /** XState does not take the machine. */
  | { kind: "refused"; message: string };

/**
 * Lets XState start the bare statechart: its states, its transitions without guards, and the events
 * that entry actions raise at once. No expression is evaluated and no named action runs.
 */
export function startOf(tree: Tree): Start {
  try {
    const config = { ...bareState(tree.root), options: { maxIterations: LIMITS.microsteps } };
    const [snapshot] = initialTransition(createMachine(config as never));
    if (snapshot.status !== "error") {
      return {
        kind: "state",
        value: snapshot.value as StateValue,
        done: snapshot.status === "done",
      };
    }
    const { error } = snapshot as { error: unknown };
    if (error instanceof Undecided) return { kind: "state", value: error.value, done: false };
    throw error;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.startsWith("Infinite loop detected")) return { kind: "endless" };
    return { kind: "refused", message };
  }
}

class Undecided extends Error {
  readonly value: StateValue;

  constructor(value: StateValue) {
    super("A guard decides.");
    this.value = value;
  }
}

/** The first guard that is asked ends the start: what it would say depends on data. XState gives guards with `check` the snapshot. */
const undecided = Object.assign(() => false, {
  check(snapshot: { value: StateValue }): boolean {
    throw new Undecided(snapshot.value);
  },
});

type Config = Record<string, unknown>;

function bareState(state: State): Config {
  const { config } = state;
  const bare: Config = {
    id: state.id,
    type: state.type,
    entry: bareActions(own(config, "entry")),
    exit: bareActions(own(config, "exit")),
  };
  for (const key of ["initial", "history", "target"]) {
    const value = own(config, key);
    if (value !== undefined) bare[key] = value;
  }
  for (const key of ["always", "onDone"]) {
    const value = own(config, key);
    if (value !== undefined) bare[key] = bareTransitions(value);
  }
  const on = own(config, "on");
  if (isJsonObject(on)) {
    bare["on"] = Object.fromEntries(
      Object.entries(on).map(([descriptor, value]) => [descriptor, bareTransitions(value)]),
    );
  }
  if (state.children.size > 0) {
    bare["states"] = Object.fromEntries(
      [...state.children].map(([key, child]) => [key, bareState(child)]),
    );
  }
  return bare;
}

function bareTransitions(value: JsonValue): Config[] {
  return listed(value, "").map((item) => {
    const config: JsonObject = isJsonObject(item.value) ? item.value : { target: item.value };
    const bare: Config = { actions: bareActions(own(config, "actions"), own(config, "context")) };
    if (own(config, "target") !== undefined) bare["target"] = own(config, "target");
    if (own(config, "reenter") === true) bare["reenter"] = true;
    const guarded = own(config, "guard") !== undefined || own(config, "matches") !== undefined;
    if (guarded) bare["guard"] = undecided;
    return bare;
  });
}

function bareActions(actions: JsonValue | undefined, patch?: JsonValue): unknown[] {
  const raises = raisesIn(actions).filter(({ delayed }) => !delayed);
  const bare: unknown[] = raises.map(({ type }) => raise({ type }));
  if (patch !== undefined || assignsIn(actions)) bare.push(assign({}));
  return bare;
}
