import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { isExpression } from "./dialect.ts";
import { dataOf, evaluation } from "./evaluation.ts";
import type { ImplementationArgs, Implementations } from "./implementations.ts";
import { compileTemplate } from "./template.ts";
import type { EventData } from "./types.ts";

/** What a guard may look at; the snapshot is XState's. */
interface Situation {
  context: JsonObject;
  event: EventData;
  isIn(stateId: string): boolean;
}
type Guard = (situation: Situation) => boolean;

interface GuardSnapshot {
  _nodes: readonly { id: string }[];
  context: unknown;
}

/**
 * A guard as XState takes it. Functions with `check` are the protocol of XState's own `and`, `not`
 * and `stateIn`: they are given the snapshot, which a plain guard function is not.
 */
export interface CompiledGuard {
  (): boolean;
  check(snapshot: GuardSnapshot, args: { event: unknown }): boolean;
}

export class GuardCompiler {
  readonly #implementations: Implementations;
  /** Turns `#id` or `#machine.path` into a node's id; set once the machine is built. */
  readonly #nodeId: (reference: string) => string;

  constructor(implementations: Implementations, nodeId: (reference: string) => string) {
    this.#implementations = implementations;
    this.#nodeId = nodeId;
  }

  /** A transition's `matches` and `guard` as one guard, noted with its result, or undefined when there is neither. */
  compile(transition: JsonObject, pointer: string): CompiledGuard | undefined {
    const parts: Guard[] = [];
    const pattern = transition["matches"];
    if (pattern !== undefined) parts.push(({ event }) => matchesPattern(pattern, event));
    const config = transition["guard"];
    if (config !== undefined) parts.push(this.#guard(config, at(pointer, "guard")));
    if (parts.length === 0) return undefined;
    const name = at(pointer, config === undefined ? "matches" : "guard");
    const guard = (): boolean => false;
    guard.check = (snapshot: GuardSnapshot, args: { event: unknown }): boolean => {
      const situation: Situation = {
        context: dataOf(snapshot.context),
        event: args.event as EventData,
        isIn: (id) => {
          evaluation().spend(snapshot._nodes.length >> 3);
          return snapshot._nodes.some((node) => node.id === id);
        },
      };
      const result = parts.every((part) => part(situation));
      evaluation().noteGuard(name, result);
      return result;
    };
    return guard;
  }

  #guard(config: JsonValue, pointer: string): Guard {
    if (isExpression(config)) {
      const template = compileTemplate(config, pointer);
      return ({ context, event }) => {
        const result = template(context, event);
        if (typeof result === "boolean") return result;
        return evaluation().fail({
          code: "expression_failed",
          message: "A guard must give true or false; compare or convert the value.",
          pointer,
        });
      };
    }
    if (typeof config === "string") return this.#named(config, undefined, pointer);
    const { type, params } = config as { type: string; params?: JsonValue };
    const inner = isJsonObject(params) ? params : {};
    const below = at(pointer, "params");
    switch (type) {
      case "xstate.stateIn": {
        const reference = inner["stateId"] as string;
        return ({ isIn }) => isIn(this.#nodeId(reference));
      }
      case "xstate.not": {
        const guard = this.#guard(inner["guard"] as JsonValue, at(below, "guard"));
        return (situation) => !guard(situation);
      }
      case "xstate.and":
      case "xstate.or": {
        const guards = (inner["guards"] as JsonValue[]).map((guard, index) =>
          this.#guard(guard, at(at(below, "guards"), index)),
        );
        return type === "xstate.and"
          ? (situation) => guards.every((guard) => guard(situation))
          : (situation) => guards.some((guard) => guard(situation));
      }
      default:
        return this.#named(type, params, pointer);
    }
  }

  #named(name: string, params: JsonValue | undefined, pointer: string): Guard {
    const guard = Object.hasOwn(this.#implementations.guards, name)
      ? this.#implementations.guards[name]
      : undefined;
    if (guard === undefined) throw new Error(`${pointer}: no guard is named '${name}'.`);
    const template = params === undefined ? null : compileTemplate(params, at(pointer, "params"));
    return ({ context, event }) => guard(argsOf(context, event, template?.(context, event)));
  }
}

export function argsOf(
  context: JsonObject,
  event: EventData,
  params: JsonValue | undefined,
): ImplementationArgs {
  const { scope } = evaluation();
  return {
    context,
    event,
    params,
    self: { id: scope.id, definitionId: scope.definitionId, seq: scope.seq },
    now: scope.now,
  };
}

/**
 * Whether data has everything that a pattern has: members by key, other values by equality. It never looks at more of
 * the data than the pattern has: many patterns may be held against one large event.
 */
function matchesPattern(pattern: JsonValue, data: JsonValue | undefined): boolean {
  if (data === undefined) return false;
  if (!isJsonObject(pattern)) return isSame(pattern, data);
  if (!isJsonObject(data)) return false;
  return Object.entries(pattern).every(
    ([key, member]) => Object.hasOwn(data, key) && matchesPattern(member, data[key]),
  );
}

/** Whether two values are the same JSON. */
function isSame(value: JsonValue, data: JsonValue | undefined): boolean {
  if (typeof value !== "object" || value === null) return value === data;
  if (typeof data !== "object" || data === null || Array.isArray(value) !== Array.isArray(data)) {
    return false;
  }
  const members = Object.entries(value);
  const others = data as JsonObject;
  return (
    Object.keys(others).length === members.length &&
    members.every(([key, member]) => Object.hasOwn(others, key) && isSame(member, others[key]))
  );
}
