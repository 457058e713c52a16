import { createMachine } from "xstate";
import type { AnyStateMachine } from "xstate";
import { LIMITS } from "../base/limits.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { ActionCompiler } from "./compile-actions.ts";
import type { Invoke } from "./compile.ts";
import { namedDelays } from "./compile-delays.ts";
import type { Delay } from "./compile-delays.ts";
import { GuardCompiler } from "./compile-guards.ts";
import type { CompiledGuard } from "./compile-guards.ts";
import type { ActionArgs, CompiledAction } from "./engine-types.ts";
import { doneType, errorType } from "./activity-events.ts";
import { invokeId, listed, targetOf } from "./dialect.ts";
import { Data, dataOf, evaluation, requireObject } from "./evaluation.ts";
import type { Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";

type Config = Record<string, unknown>;
interface CompiledInvoke {
  invoke: Invoke;
  handlers: [type: string, transitions: Config[]][];
}

/** Builds what XState makes a machine of, state by state. */
export class StateCompiler {
  readonly #definition: JsonObject;
  readonly #delays: ReadonlyMap<string, Delay>;
  readonly #guards: GuardCompiler;
  readonly #actions: ActionCompiler;
  #machine: AnyStateMachine | null = null;
  readonly invokes = new Map<string, readonly Invoke[]>();

  constructor(definition: JsonObject, implementations: Implementations) {
    this.#definition = definition;
    this.#guards = new GuardCompiler(
      implementations,
      (reference) => (this.#machine as AnyStateMachine).getStateNodeById(reference).id,
    );
    this.#delays = namedDelays(definition, implementations);
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
      node["output"] = ({ context, event }: ActionArgs) => output(dataOf(context), event);
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
