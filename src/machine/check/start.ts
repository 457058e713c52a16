import { assign, createActor, createMachine, raise } from "xstate";
import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { listed, own, targetOf } from "../dialect.ts";
import type { StateValue } from "../types.ts";
import { assignsIn, raisesIn } from "./raises.ts";
import type { State, Tree } from "./tree.ts";

type Start =
  /** Where the machine comes to rest, or where it depends on a guard how it goes on. */
  | { kind: "state"; value: StateValue; done: boolean }
  | { kind: "endless"; microsteps: number }
  /** XState does not take the machine. */
  | { kind: "refused"; message: string };

/**
 * Lets XState start the bare statechart: its states, its transitions without guards, and the events
 * that built-in raises send at once. No expression is evaluated and no named action runs. The first
 * guard that is asked ends it: what it would say depends on data.
 */
export function startOf(tree: Tree, leaves: number): Start {
  const microsteps = microstepsFor(leaves);
  let decidedAt: StateValue | undefined;
  const undecided = Object.assign(() => false, {
    // XState gives the snapshot to guards that have `check`.
    check(snapshot: { value: StateValue }): boolean {
      decidedAt ??= snapshot.value;
      throw new Error("A guard decides.");
    },
  });
  try {
    const config = new BareChart(undecided).state(tree.root);
    config["options"] = { maxIterations: microsteps };
    // Never started: to be built is enough to compute the start.
    const snapshot = createActor(createMachine(config as never)).getSnapshot();
    if (decidedAt !== undefined) return { kind: "state", value: decidedAt, done: false };
    if (snapshot.status === "error") throw (snapshot as { error: unknown }).error;
    const value = snapshot.value as StateValue;
    return { kind: "state", value, done: snapshot.status === "done" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.startsWith("Infinite loop detected")) return { kind: "endless", microsteps };
    return { kind: "refused", message };
  }
}

/** XState compares the transitions of all active leaves pair by pair, so a start with many of them gets fewer microsteps. */
function microstepsFor(leaves: number): number {
  return Math.min(LIMITS.microsteps, Math.max(50, Math.floor(100_000 / leaves ** 2)));
}

type Config = Record<string, unknown>;

class BareChart {
  readonly #guard: unknown;

  /** One guard stands for all. */
  constructor(guard: unknown) {
    this.#guard = guard;
  }

  state({ config, id, type, parent, children }: State): Config {
    const bare: Config = {
      id,
      type,
      entry: bareActions(own(config, "entry")),
      exit: bareActions(own(config, "exit")),
    };
    for (const key of ["initial", "history"]) {
      const value = own(config, key);
      if (value !== undefined) bare[key] = value;
    }
    const target = targetOf(config, parent && parent.config);
    if (target !== undefined) bare["target"] = target;
    for (const key of ["always", "onDone"]) {
      const value = own(config, key);
      if (value !== undefined) bare[key] = this.#transitions(value);
    }
    const on = own(config, "on");
    if (isJsonObject(on)) {
      bare["on"] = Object.fromEntries(
        Object.entries(on).map(([descriptor, value]) => [descriptor, this.#transitions(value)]),
      );
    }
    if (children.size > 0) {
      bare["states"] = Object.fromEntries(
        [...children].map(([key, child]) => [key, this.state(child)]),
      );
    }
    return bare;
  }

  #transitions(value: JsonValue): Config[] {
    return listed(value, "").map((item) => {
      const config: JsonObject = isJsonObject(item.value) ? item.value : { target: item.value };
      const bare: Config = { actions: bareActions(own(config, "actions"), own(config, "context")) };
      if (own(config, "target") !== undefined) bare["target"] = own(config, "target");
      if (own(config, "reenter") === true) bare["reenter"] = true;
      const guarded = own(config, "guard") !== undefined || own(config, "matches") !== undefined;
      if (guarded) bare["guard"] = this.#guard;
      return bare;
    });
  }
}

function bareActions(actions: JsonValue | undefined, patch?: JsonValue): unknown[] {
  const raises = raisesIn(actions).filter(({ delayed }) => !delayed);
  const bare: unknown[] = raises.map(({ type }) => raise({ type }));
  if (patch !== undefined || assignsIn(actions)) bare.push(assign({}));
  return bare;
}
