import { assign, cancel, emit, enqueueActions, raise } from "xstate";
import { LIMITS } from "../base/limits.ts";
import { dataFault, deepFreeze } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { nameText, refValue, sendId } from "./action-values.ts";
import type { Invoke } from "./compile.ts";
import { compileDelay } from "./compile-delays.ts";
import type { Delay } from "./compile-delays.ts";
import { argsOf } from "./compile-guards.ts";
import { LOG, SEND, SET_REF, START, STOP, emitted } from "./emitted.ts";
import type { ActionArgs, CompiledAction } from "./engine-types.ts";
import { Data, dataOf, evaluation } from "./evaluation.ts";
import type { ActionResult, Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";
import type { EventData } from "./types.ts";

export class ActionCompiler {
  readonly #implementations: Implementations;
  readonly #delays: ReadonlyMap<string, Delay>;

  constructor(implementations: Implementations, delays: ReadonlyMap<string, Delay>) {
    this.#implementations = implementations;
    this.#delays = delays;
  }

  compileAll(config: JsonValue | undefined, pointer: string): CompiledAction[] {
    if (config === undefined) return [];
    if (!Array.isArray(config)) return [this.#compile(config as JsonValue, pointer)];
    return config.map((action, index) => this.#compile(action as JsonValue, at(pointer, index)));
  }

  /** What an invoke does as its state is entered, after that state's entry actions. */
  start({ state, id, src, input }: Invoke): CompiledAction {
    return emitted(START, (context, event) => ({ state, id, src, input: input(context, event) }));
  }

  /** And as it is left, after its exit actions. */
  stop({ state, id }: Invoke): CompiledAction {
    return emitted(STOP, () => ({ state, id }));
  }

  /** A patch of the context's first level; all values see the context before it. */
  assign(patch: JsonValue, pointer: string): CompiledAction {
    const template = compileTemplate(patch, pointer);
    return patchAction((context, event) => template(context, event) as JsonObject);
  }

  #compile(config: JsonValue, pointer: string): CompiledAction {
    if (typeof config === "string") return this.#named(config, undefined, pointer);
    const action = config as JsonObject & { type: string };
    switch (action.type) {
      case "@xstate.assign":
        return this.assign(action["context"] as JsonValue, at(pointer, "context"));
      case "@xstate.raise": {
        const event = this.#event(action, pointer);
        const options: { id?: string; delay?: Delay } = {};
        if (typeof action["id"] === "string") options.id = action["id"];
        if (action["delay"] !== undefined) {
          options.delay = compileDelay(action["delay"], at(pointer, "delay"), this.#delays);
        }
        return raise(event as never, options as never) as unknown as CompiledAction;
      }
      case "@xstate.cancel": {
        const id = compileTemplate(action["id"] as JsonValue, at(pointer, "id"));
        return cancel((({ context, event }: ActionArgs) =>
          sendId(
            id(dataOf(context), event),
            at(pointer, "id"),
          )) as never) as unknown as CompiledAction;
      }
      case "@xstate.emit":
        return emit(this.#event(action, pointer) as never) as unknown as CompiledAction;
      case "@xstate.log": {
        const args = compileTemplate(action["args"] ?? [], at(pointer, "args"));
        return emitted(LOG, (context, event) => ({ args: args(context, event) }));
      }
      case "@xstate.sendTo":
        return this.#sendTo(action, pointer);
      case "@xstate.spawnChild":
        return this.#spawnChild(action, pointer);
      case "@xstate.stopChild": {
        const id = compileTemplate(action["id"] as JsonValue, at(pointer, "id"));
        return emitted(STOP, (context, event) => ({
          state: null,
          id: nameText(id(context, event), at(pointer, "id")),
        }));
      }
      case "@perdure.setRef": {
        const value = compileTemplate(action["value"] as JsonValue, at(pointer, "value"));
        const name = action["name"] as string;
        return emitted(SET_REF, (context, event) => ({
          name,
          value: refValue(value(context, event), at(pointer, "value")),
        }));
      }
      default:
        return this.#named(action.type, action["params"], pointer);
    }
  }

  #sendTo(action: JsonObject, pointer: string): CompiledAction {
    const to = compileTemplate(action["to"] as JsonValue, at(pointer, "to"));
    const event = compileTemplate(action["event"] as JsonValue, at(pointer, "event"));
    const { id = null, delay } = action;
    const delayMs =
      delay === undefined ? null : compileDelay(delay, at(pointer, "delay"), this.#delays);
    return emitted(SEND, (context, given, args) => ({
      to: nameText(to(context, given), at(pointer, "to")),
      event: event(context, given),
      delayMs: delayMs?.(args) ?? null,
      sendId: id,
    }));
  }

  #spawnChild(action: JsonObject, pointer: string): CompiledAction {
    const { src, id, input } = action;
    const template = compileTemplate(input ?? null, at(pointer, "input"));
    const name = id === undefined ? null : compileTemplate(id, at(pointer, "id"));
    return emitted(START, (context, event) => ({
      state: null,
      id:
        name === null
          ? evaluation().nextSpawnId()
          : nameText(name(context, event), at(pointer, "id")),
      src: src as string,
      input: template(context, event),
    }));
  }

  #event(action: JsonObject, pointer: string): (args: ActionArgs) => EventData {
    const template = compileTemplate(action["event"] as JsonValue, at(pointer, "event"));
    return ({ context, event }) => template(dataOf(context), event) as EventData;
  }

  #named(name: string, params: JsonValue | undefined, pointer: string): CompiledAction {
    const action = Object.hasOwn(this.#implementations.actions, name)
      ? this.#implementations.actions[name]
      : undefined;
    if (action === undefined) throw new Error(`${pointer}: no action is named '${name}'.`);
    const template = params === undefined ? null : compileTemplate(params, at(pointer, "params"));
    return enqueueActions((({
      context,
      event,
      enqueue,
    }: ActionArgs & { enqueue: (action: unknown) => void }) => {
      const data = dataOf(context);
      const given = event as EventData;
      const result = action(argsOf(data, given, template?.(data, event)));
      if (!result) return;
      const { context: patch, raise: raised = [], emit: told = [], log = [] } = plain(result, name);
      if (patch) enqueue(patchAction(() => patch));
      for (const item of raised) enqueue(raise(item as never));
      for (const item of told) enqueue(emit(item as never));
      if (log.length > 0) enqueue(emitted(LOG, () => ({ args: log })));
    }) as never) as unknown as CompiledAction;
  }
}

/** What a named action gave, as data of our own: what JSON cannot hold would be gone after the next restore. */
function plain(result: ActionResult, name: string): ActionResult {
  const fault = dataFault(result, LIMITS.jsonDepth);
  if (fault === null) return deepFreeze(JSON.parse(JSON.stringify(result)) as ActionResult);
  return evaluation().fail({
    code: "expression_failed",
    message: `The action '${name}' gave data that cannot be kept: ${fault}.`,
  });
}

/** steps; XState's part of an assign. */
const ASSIGN_STEPS = 20;

function patchAction(patch: (context: JsonObject, event: unknown) => JsonObject): CompiledAction {
  return assign((({ context, event }: ActionArgs) => {
    const data = dataOf(context);
    const next = { ...data, ...patch(data, event) };
    evaluation().spend(ASSIGN_STEPS + (Object.keys(next).length >> 3));
    return { data: new Data(Object.freeze(next)) };
  }) as never) as unknown as CompiledAction;
}
