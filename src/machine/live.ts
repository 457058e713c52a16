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

/** What Perdure keeps of a snapshot: paths instead of ids, states in document order. */
export function persist(live: Live): MachineState {
  const machine = live.machine as AnyStateMachine;
  const history: Record<string, string[]> = {};
  for (const [id, nodes] of Object.entries(live.historyValue ?? {})) {
    const historyNode = machine.getStateNodeById(`#${id}`);
    history[pathOf(historyNode as unknown as StateNode)] = nodes.map(pathOf);
  }
  const state: MachineState = {
    status: live.status as MachineState["status"],
    value: inDocumentOrder(live.value as StateValue, machine.root as unknown as StateNode),
    context: contextOf(live),
    history,
  };
  if (live.output !== undefined) state.output = live.output as JsonValue;
  return state;
}

/** Back to a snapshot that can step. Neither `resolveState` (it loses history) nor a started actor would do. */
export function restore(machine: CompiledMachine, state: MachineState): Live {
  const historyValue: Record<string, { id: string }[]> = {};
  for (const [path, targets] of Object.entries(state.history)) {
    historyValue[nodeAt(machine, path).id] = targets.map((target) => ({
      id: nodeAt(machine, target).id,
    }));
  }
  const persisted = {
    status: state.status,
    value: state.value,
    context: { data: new Data(deepFreeze(state.context)) },
    historyValue,
    children: {},
    output: state.output,
    error: undefined,
  };
  return machine.xstate.restoreSnapshot(persisted as never, machine.actorScope as never) as Live;
}

function nodeAt(machine: CompiledMachine, path: string): StateNode {
  const node = machine.nodes.get(path);
  if (node === undefined) throw new Error(`The definition has no state '${path}'.`);
  return node;
}

/** XState's order of a parallel state's regions depends on the way there, and decides whose actions run first; ours does not. */
function inDocumentOrder(value: StateValue, node: StateNode): StateValue {
  if (typeof value === "string") return value;
  const ordered: Record<string, StateValue> = {};
  for (const [key, child] of Object.entries(node.states)) {
    const below = value[key];
    if (below !== undefined) ordered[key] = inDocumentOrder(below, child);
  }
  return ordered;
}
