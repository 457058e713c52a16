/** XState's own structures, by what is used of them. They are not part of its documented types. */

export interface StateNode {
  id: string;
  path: string[];
  type: "atomic" | "compound" | "parallel" | "final" | "history";
  parent?: StateNode;
  states: Record<string, StateNode>;
  tags: string[];
  history?: "shallow" | "deep" | boolean;
  config: { after?: Record<string, unknown>; target?: string | string[] };
  /** Of a compound state. */
  initial: { target: StateNode[] };
  /** By descriptor, in the order in which they are tried. */
  transitions: Map<string, DeclaredTransition[]>;
  /** Eventless ones. */
  always?: DeclaredTransition[];
}

export interface DeclaredTransition {
  target?: StateNode[];
  actions: unknown[];
  reenter: boolean;
}

/** A transition that was selected. Without target and actions it only forbids. */
export interface SelectedTransition {
  source: StateNode;
  eventType: string;
  target: StateNode[] | undefined;
  actions: unknown[];
}

/** What XState tells those who inspect it after each microstep. */
export interface Microstep {
  _transitions: SelectedTransition[];
  snapshot: { _nodes: readonly StateNode[] };
}

/** An action that is to be executed by the host. */
export interface Executable {
  type: string;
  params: Record<string, unknown> | undefined;
}

/** XState's action creators return callables; what they take is not worth typing here. */
export type CompiledAction = (...args: never[]) => unknown;

/** What XState gives to what an action asks of us. */
export interface ActionArgs {
  context: unknown;
  event: unknown;
}

export function pathOf(node: { path: string[] }): string {
  return node.path.join(".");
}
