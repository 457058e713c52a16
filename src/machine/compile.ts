import { createActor, createMachine } from "xstate";
import type { AnyStateMachine } from "xstate";
import { LIMITS } from "../base/limits.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { implementations as deployed } from "../implementations/index.ts";
import { ActionCompiler, wholeMs } from "./compile-actions.ts";
import type { CompiledAction } from "./compile-actions.ts";
import { GuardCompiler, argsOf } from "./compile-guards.ts";
import type { CompiledGuard } from "./compile-guards.ts";
import { pathOf } from "./engine-types.ts";
import type { Executable, Microstep, StateNode } from "./engine-types.ts";
import { doneType, errorType } from "./activity-events.ts";
import { invokeId, listed, targetOf } from "./dialect.ts";
import { Data, dataOf, evaluation, requireObject } from "./evaluation.ts";
import type { Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";
import type { Template } from "./template.ts";
import type { EventData } from "./types.ts";

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
  const compiler = new MachineCompiler(definition, implementations);
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

type Config = Record<string, unknown>;
interface CompiledInvoke {
  invoke: Invoke;
  handlers: [type: string, transitions: Config[]][];
}
type NamedDelay = (args: { context: unknown; event: unknown }) => number;

class MachineCompiler {
  readonly #definition: JsonObject;
  readonly #implementations: Implementations;
  readonly #delays = new Map<string, NamedDelay>();
  readonly #guards: GuardCompiler;
  readonly #actions: ActionCompiler;
  #machine: AnyStateMachine | null = null;
  readonly invokes = new Map<string, readonly Invoke[]>();

  constructor(definition: JsonObject, implementations: Implementations) {
    this.#definition = definition;
    this.#implementations = implementations;
    this.#guards = new GuardCompiler(
      implementations,
      (reference) => (this.#machine as AnyStateMachine).getStateNodeById(reference).id,
    );
    this.#compileDelays();
    this.#actions = new ActionCompiler(implementations, this.#delays);
  }

  compile(): AnyStateMachine {
    const root = this.#node(this.#definition, "", null, "");
    root["context"] = this.#initialContext();
    root["options"] = { maxIterations: LIMITS.microsteps };
    this.#machine = createMachine(root as never, {
      delays: Object.fromEntries(this.#delays) as never,
    });
    return this.#machine;
  }

  #compileDelays(): void {
    for (const [name, delay] of Object.entries(this.#implementations.delays)) {
      this.#delays.set(name, ({ context, event }) =>
        wholeMs(delay(argsOf(dataOf(context), event as EventData, undefined)), at("/delays", name)),
      );
    }
    const declared = this.#definition["delays"];
    if (!isJsonObject(declared)) return;
    for (const [name, config] of Object.entries(declared)) {
      const nested = isJsonObject(config) && Object.hasOwn(config, "duration");
      const value = nested ? (config as JsonObject)["duration"] : config;
      const pointer = nested ? at(at("/delays", name), "duration") : at("/delays", name);
      const template = compileTemplate(value as JsonValue, pointer);
      this.#delays.set(name, ({ context, event }) =>
        wholeMs(template(dataOf(context), event), pointer),
      );
    }
  }

  /** The spawner's `context` is laid over the machine's, first level only, before anything is entered. */
  #initialContext(): () => { data: Data } {
    const template = compileTemplate(this.#definition["context"] ?? {}, "/context");
    return () => {
      const { input, overlay } = evaluation();
      const event = { type: "xstate.init", input: input ?? null };
      const initial = requireObject(template({}, event), "/context");
      return { data: new Data(Object.freeze({ ...initial, ...overlay })) };
    };
  }

  #node(config: JsonObject, pointer: string, parent: JsonObject | null, state: string): Config {
    const node: Config = {};
    for (const key of ["id", "type", "initial", "history", "meta", "description"]) {
      if (config[key] !== undefined) node[key] = config[key];
    }
    const target = targetOf(config, parent);
    if (target !== undefined) node["target"] = target;
    if (config["tags"] !== undefined) node["tags"] = config["tags"];
    if (config["output"] !== undefined) {
      const output = compileTemplate(config["output"], at(pointer, "output"));
      node["output"] = ({ context, event }: { context: unknown; event: unknown }) =>
        output(dataOf(context), event);
    }
    const invokes = this.#invokes(config, pointer, state);
    const around = {
      entry: invokes.map(({ invoke }) => this.#actions.start(invoke)),
      exit: invokes.map(({ invoke }) => this.#actions.stop(invoke)),
    };
    for (const key of ["entry", "exit"] as const) {
      node[key] = [...this.#actions.compileAll(config[key], at(pointer, key)), ...around[key]];
    }
    for (const key of ["on", "after"]) {
      if (!isJsonObject(config[key])) continue;
      node[key] = mapEntries(config[key], (transitions, name) =>
        this.#transitions(transitions, at(at(pointer, key), name)),
      );
    }
    if (invokes.length > 0) {
      const results = Object.fromEntries(invokes.flatMap(({ handlers }) => handlers));
      node["on"] = { ...(node["on"] as Config | undefined), ...results };
      this.invokes.set(
        state,
        invokes.map(({ invoke }) => invoke),
      );
    }
    for (const key of ["always", "onDone"]) {
      if (config[key] === undefined) continue;
      node[key] = this.#transitions(config[key], at(pointer, key));
    }
    if (isJsonObject(config["states"])) {
      const below = at(pointer, "states");
      node["states"] = mapEntries(config["states"], (child, name) =>
        this.#node(
          child as JsonObject,
          at(below, name),
          config,
          state === "" ? name : `${state}.${name}`,
        ),
      );
    }
    return node;
  }

  /** XState's own invoke would need living children to stop; ours is what happens on entry and exit, and two events. */
  #invokes(config: JsonObject, pointer: string, state: string): CompiledInvoke[] {
    return listed(config["invoke"], at(pointer, "invoke")).map((item, index) => {
      const value = item.value as JsonObject;
      const { id, src, input, onDone, onError, compensate } = value;
      const invoke: Invoke = {
        state,
        id: invokeId(value, index, state),
        explicit: typeof id === "string",
        src: src as string,
        input: compileTemplate(input ?? null, at(item.pointer, "input")),
        onError: onError !== undefined,
        compensate: isJsonObject(compensate) ? compensation(compensate, item.pointer) : null,
      };
      const handlers: CompiledInvoke["handlers"] = [];
      const add = (type: string, transitions: JsonValue | undefined, key: string) => {
        if (transitions === undefined) return;
        handlers.push([type, this.#transitions(transitions, at(item.pointer, key))]);
      };
      add(doneType(invoke.id), onDone, "onDone");
      add(errorType(invoke.id), onError, "onError");
      return { invoke, handlers };
    });
  }

  #transitions(config: JsonValue, pointer: string): Config[] {
    if (!Array.isArray(config)) return [this.#transition(config, pointer)];
    return config.map((item, index) => this.#transition(item as JsonValue, at(pointer, index)));
  }

  #transition(config: JsonValue, pointer: string): Config {
    if (typeof config === "string") return { target: config };
    const transition = config as JsonObject;
    const compiled: Config = {};
    for (const key of ["target", "reenter", "meta", "description"]) {
      if (transition[key] !== undefined) compiled[key] = transition[key];
    }
    const guard: CompiledGuard | undefined = this.#guards.compile(transition, pointer);
    if (guard !== undefined) compiled["guard"] = guard;
    const actions: CompiledAction[] = [];
    const patch = transition["context"];
    if (patch !== undefined) actions.push(this.#actions.assign(patch, at(pointer, "context")));
    actions.push(...this.#actions.compileAll(transition["actions"], at(pointer, "actions")));
    if (actions.length > 0) compiled["actions"] = actions;
    return compiled;
  }
}

function compensation({ src, input }: JsonObject, invoke: string): Invoke["compensate"] {
  const pointer = at(at(invoke, "compensate"), "input");
  return { src: src as string, input: compileTemplate(input ?? null, pointer), pointer };
}

function mapEntries(
  object: JsonObject,
  map: (value: JsonValue, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
