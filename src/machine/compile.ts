import { createActor } from "xstate";
import type { AnyStateMachine } from "xstate";
import type { JsonObject } from "../base/json.ts";
import { implementations as deployed } from "../implementations/index.ts";
import { StateCompiler } from "./compile-states.ts";
import { pathOf } from "./engine-types.ts";
import type { Executable, Microstep, StateNode } from "./engine-types.ts";
import { evaluation } from "./evaluation.ts";
import type { Implementations } from "./implementations.ts";
import type { Template } from "./template.ts";

/** A definition ready to run, shared by all actors of an isolate that are on it; nothing in it changes. */
export interface CompiledMachine {
  readonly family: string;
  readonly definition: JsonObject;
  readonly implementations: string;
  readonly xstate: AnyStateMachine;
  /** By path; "" is the root. */
  readonly nodes: ReadonlyMap<string, StateNode>;
  /** XState's event type of a delayed transition → where it is declared. */
  readonly afterByEvent: ReadonlyMap<string, { state: string; delay: string }>;
  /** Where a delayed transition is declared (`afterKey`) → XState's event type. */
  readonly eventByAfter: ReadonlyMap<string, string>;
  /** By path of the invoking state, in document order. */
  readonly invokes: ReadonlyMap<string, readonly Invoke[]>;
  /** What XState asks for beside snapshot and event. */
  readonly actorScope: { self: unknown };
}

/** An `invoke` as it was compiled. */
export interface Invoke {
  /** Path of the state. */
  state: string;
  /** Its own, or `<index>.<state path>`. */
  id: string;
  /** Whether the definition names it: only then can it be carried over to another version. */
  explicit: boolean;
  src: string;
  input: Template;
  onError: boolean;
  /** What undoes it; null when nothing does. */
  compensate: { src: string; input: Template; pointer: string } | null;
}

export function afterKey(state: string, delay: string): string {
  return `${state}\n${delay}`;
}

/** How a key of `after` is called in timers: XState reads a numeric one as a number, so "010" and "10" are one delay. */
export function delayName(key: string): string {
  return Number.isNaN(Number(key)) ? key : String(Number(key));
}

/** Turns a checked definition into a machine; throws only on what `checkDefinition` refuses. */
export function compileDefinition(
  definition: JsonObject,
  implementations: Implementations = deployed,
): CompiledMachine {
  const family = definition["id"] as string;
  const compiler = new StateCompiler(definition, implementations);
  const xstate = compiler.compile();
  const nodes = new Map<string, StateNode>();
  const afterByEvent = new Map<string, { state: string; delay: string }>();
  const eventByAfter = new Map<string, string>();
  const visit = (node: StateNode): void => {
    const state = pathOf(node);
    nodes.set(state, node);
    for (const key of Object.keys(node.config.after ?? {})) {
      const delay = delayName(key);
      const event = `xstate.after.${delay}.${node.id}`;
      afterByEvent.set(event, { state, delay });
      eventByAfter.set(afterKey(state, delay), event);
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(xstate.root as unknown as StateNode);

  // Never started. XState's own `transition()` builds such an actor on every call, which evaluates the
  // machine's start each time; one that is built once gives the same results and leaves no false decisions.
  const self = createActor(xstate, {
    inspect: (inspected) => {
      if (inspected.type !== "@xstate.microstep") return;
      const { _transitions: transitions, snapshot } = inspected as unknown as Microstep;
      evaluation().noteMicrostep(transitions, snapshot._nodes.length);
    },
  });
  const actorScope = {
    self,
    system: self.system,
    id: "",
    sessionId: "",
    defer: () => {},
    logger: () => {},
    stopChild: () => {},
    emit: () => {},
    actionExecutor: (action: Executable) => evaluation().noteExecutable(action),
  };
  return {
    family,
    definition,
    implementations: implementations.version,
    xstate,
    nodes,
    afterByEvent,
    eventByAfter,
    invokes: compiler.invokes,
    actorScope,
  };
}
