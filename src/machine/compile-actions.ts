import { assign, cancel, emit, enqueueActions, raise } from "xstate";
import { LIMITS } from "../base/limits.ts";
import { dataFault, deepFreeze } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import type { Invoke } from "./compile.ts";
import { argsOf } from "./compile-guards.ts";
import { Data, dataOf, evaluation } from "./evaluation.ts";
import type { ActionResult, Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";
import type { EventData } from "./types.ts";

/** XState's action creators return callables; what they take is not worth typing here. */
export type CompiledAction = (...args: never[]) => unknown;
interface ActionArgs {
  context: unknown;
  event: unknown;
}
type Delay = (args: ActionArgs) => number;

/** Travels through XState as an emitted event: it is resolved at its place in the list, after the assigns before it. */
export const SET_REF = "@perdure.setRef";
export const LOG = "@xstate.log";
export const START = "@perdure.start";
export const STOP = "@perdure.stop";
export const SEND = "@perdure.send";

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

  /** A delay in whole ms: a number, an expression or a name. */
  delay(config: JsonValue, pointer: string): Delay {
    if (typeof config === "string") {
      const named = this.#delays.get(config);
      if (named === undefined) throw new Error(`${pointer}: no delay is named '${config}'.`);
      return named;
    }
    const template = compileTemplate(config, pointer);
    return ({ context, event }) => wholeMs(template(dataOf(context), event), pointer);
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
          options.delay = this.delay(action["delay"], at(pointer, "delay"));
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
    const delayMs = delay === undefined ? null : this.delay(delay, at(pointer, "delay"));
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

function emitted(
  type: string,
  members: (context: JsonObject, event: unknown, args: ActionArgs) => JsonObject,
): CompiledAction {
  return emit(((args: ActionArgs) => ({
    type,
    ...members(dataOf(args.context), args.event, args),
  })) as never) as unknown as CompiledAction;
}

export function wholeMs(value: unknown, pointer: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LIMITS.delayMs) {
    return value as number;
  }
  return evaluation().fail({
    code: "expression_failed",
    message: `A delay must be a whole number of ms from 0 to ${LIMITS.delayMs}; round it with int(…).`,
    pointer,
  });
}

/** Ids of delayed events share one space with those that XState gives to timers of states, which no data may cancel. */
function sendId(value: JsonValue, pointer: string): string {
  if (typeof value === "string" && !value.startsWith("xstate.")) return value;
  return evaluation().fail({
    code: "expression_failed",
    message: "The id of a delayed event is a string that does not begin with `xstate.`.",
    pointer,
  });
}

/** The id of an activity, or of who gets a message. */
function nameText(value: JsonValue, pointer: string): string {
  if (typeof value === "string" && value !== "" && value.length <= LIMITS.nameChars) return value;
  return evaluation().fail({
    code: "expression_failed",
    message: `This must be a string of 1 to ${LIMITS.nameChars} characters; use string(…).`,
    pointer,
  });
}

function refValue(value: JsonValue, pointer: string): string | null {
  if (value === null) return null;
  if (typeof value === "string" && value.length > 0 && value.length <= LIMITS.refValueChars) {
    return value;
  }
  return evaluation().fail({
    code: "expression_failed",
    message: `A ref's value must be null or a string of 1 to ${LIMITS.refValueChars} characters; use string(…).`,
    pointer,
  });
}
