import { createActor } from "xstate";
import type { AnyMachineSnapshot, AnyStateMachine } from "xstate";
import { deepFreeze } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { StateNode } from "./engine-types.ts";
import { Data, dataOf } from "./evaluation.ts";
import type { MachineState, StateValue } from "./types.ts";

/** XState's snapshot of one actor while its object is awake: opaque outside of this folder. */
export type Live = AnyMachineSnapshot & {
  readonly _nodes: readonly StateNode[];
  readonly historyValue: Readonly<Record<string, readonly StateNode[]>>;
};

export function contextOf(live: Live): JsonObject {
  return dataOf(live.context);
}

/** What Perdure keeps of a snapshot: paths instead of ids, keys in order. */
export function persist(live: Live): MachineState {
  const history: Record<string, string[]> = {};
  for (const [id, nodes] of Object.entries(live.historyValue ?? {})) {
    const historyNode = (live.machine as AnyStateMachine).getStateNodeById(`#${id}`);
    history[pathOf(historyNode as unknown as StateNode)] = nodes.map(pathOf);
  }
  const state: MachineState = {
    status: live.status as MachineState["status"],
    value: orderedValue(live.value as StateValue),
    context: contextOf(live),
    history,
  };
  if (live.output !== undefined) state.output = live.output as JsonValue;
  return state;
}

/** Back to a snapshot that can step. The only way that keeps history: an actor that is built and never started. */
export function restore(machine: CompiledMachine, state: MachineState): Live {
  const historyValue: Record<string, { id: string }[]> = {};
  for (const [path, targets] of Object.entries(state.history)) {
    historyValue[nodeAt(machine, path).id] = targets.map((target) => ({
      id: nodeAt(machine, target).id,
    }));
  }
  const actor = createActor(machine.xstate, {
    snapshot: {
      status: state.status,
      value: state.value,
      context: { data: new Data(deepFreeze(state.context)) },
      historyValue,
      children: {},
      output: state.output,
      error: undefined,
    } as never,
  });
  const live = actor.getSnapshot() as Live & { error?: unknown };
  if (live.value === undefined) throw live.error;
  return live;
}

function nodeAt(machine: CompiledMachine, path: string): StateNode {
  const node = machine.nodes.get(path);
  if (node === undefined) throw new Error(`The definition has no state '${path}'.`);
  return node;
}

/** XState's order of a parallel state's keys depends on the way there; ours does not. */
function orderedValue(value: StateValue): StateValue {
  if (typeof value === "string") return value;
  const ordered: Record<string, StateValue> = {};
  for (const key of Object.keys(value).sort()) ordered[key] = orderedValue(value[key]!);
  return ordered;
}
