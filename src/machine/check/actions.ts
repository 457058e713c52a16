import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { BUILT_IN_ACTIONS, isBuiltInAction, isExpression, listed, own } from "../dialect.ts";
import type { BuiltInAction } from "../dialect.ts";
import type { Check } from "./context.ts";
import { checkDelay } from "./delays.ts";
import { checkEvent } from "./events.ts";
import { INSTEAD_OF_ACTION_KEYS, checkKeys } from "./keys.ts";
import { quoted, suggestion } from "./problems.ts";
import { checkActivity } from "./sources.ts";
import { checkExpression, checkTemplate, warnOfLiteral } from "./templates.ts";
import type { Use } from "./uses.ts";

/** `actions`, `entry`, `exit`: one action or a list of them. */
export function checkActions(check: Check, value: JsonValue | undefined, pointer: string): void {
  for (const action of listed(value, pointer)) checkAction(check, action.value, action.pointer);
}

function checkAction(check: Check, action: JsonValue, pointer: string): void {
  if (typeof action === "string") {
    checkName(check, action, pointer);
    return;
  }
  const type = isJsonObject(action) ? own(action, "type") : undefined;
  if (!isJsonObject(action) || typeof type !== "string") {
    check.errors.add(
      pointer,
      "invalid_action",
      'An action is a name or an object with a `type`: {"type": "@xstate.assign", "context": {…}}.',
    );
    return;
  }
  if (isBuiltInAction(type)) {
    checkBuiltIn(check, type, action, pointer);
    return;
  }
  checkName(check, type, at(pointer, "type"));
  checkKeys(action, pointer, ["type", "params"], "An action", INSTEAD_OF_ACTION_KEYS, check.errors);
  const params = own(action, "params");
  if (params !== undefined) checkTemplate(check, params, at(pointer, "params"));
}

function checkBuiltIn(
  check: Check,
  type: BuiltInAction,
  action: JsonObject,
  pointer: string,
): void {
  const shape: { required: readonly string[]; optional: readonly string[] } =
    BUILT_IN_ACTIONS[type];
  if (type === "@xstate.spawnChild") checkActivity(check, action, pointer, CANNOT_SPAWN);
  const known = ["type", ...shape.required, ...shape.optional];
  checkKeys(action, pointer, known, type, INSTEAD_OF_ACTION_KEYS, check.errors);
  for (const key of shape.required) {
    if (own(action, key) !== undefined) continue;
    check.errors.add(pointer, "missing_key", `${type} needs \`${key}\`: ${exampleOf(type)}.`);
  }
  for (const key of known) {
    const value = own(action, key);
    if (key !== "type" && value !== undefined)
      checkMember(check, key, value, at(pointer, key), type);
  }
}

const CANNOT_SPAWN = {
  compensate: "`compensate` belongs to a state, which waits for it: write it as `invoke`.",
};

function checkMember(
  check: Check,
  key: string,
  value: JsonValue,
  pointer: string,
  type: BuiltInAction,
): void {
  switch (key) {
    case "context":
      return checkPatch(check, value, pointer);
    case "event":
      return checkEvent(check, value, pointer, type === "@xstate.raise");
    case "delay":
      return checkDelay(check, value, pointer);
    case "args":
      if (Array.isArray(value)) return checkTemplate(check, value, pointer);
      return check.errors.add(
        pointer,
        "invalid_value",
        "`args` must be an array of values to log.",
      );
    case "name":
      return checkText(check, value, pointer, LIMITS.refNameChars);
    case "value":
      return value === null
        ? undefined
        : checkTextOrExpression(check, value, pointer, LIMITS.refValueChars, "ref");
    case "src":
    case "input":
      return undefined;
    case "id":
      if (type === "@xstate.raise" || type === "@xstate.sendTo") {
        return checkId(check, value, pointer);
      }
      return isExpression(value)
        ? checkExpression(check, value, pointer, "anywhere", "text")
        : checkId(check, value, pointer);
    default:
      return checkTextOrExpression(check, value, pointer, LIMITS.nameChars);
  }
}

/** What an assign sets: values by key of the context's first level. */
export function checkPatch(check: Check, patch: JsonValue, pointer: string): void {
  if (!isJsonObject(patch) || isExpression(patch)) {
    check.errors.add(
      pointer,
      "invalid_value",
      'Write the values by their keys in the context: {"n": {"@expr": "context.n + 1"}}.',
    );
    return;
  }
  if (Object.hasOwn(patch, "__proto__")) {
    check.errors.add(
      at(pointer, "__proto__"),
      "reserved_key",
      "A context cannot be given the key '__proto__'.",
    );
  }
  checkTemplate(check, patch, pointer);
}

function checkTextOrExpression(
  check: Check,
  value: JsonValue,
  pointer: string,
  most: number,
  use: Use = "text",
): void {
  if (isExpression(value)) checkExpression(check, value, pointer, "anywhere", use);
  else {
    checkText(check, value, pointer, most);
    warnOfLiteral(check, value, pointer);
  }
}

function checkText(check: Check, value: JsonValue, pointer: string, most: number): void {
  if (typeof value === "string" && value !== "" && value.length <= most) return;
  check.errors.add(pointer, "invalid_value", `This must be a string of 1 to ${most} characters.`);
}

/** Ids of delayed events share one space with the ids that XState gives to its timers. */
function checkId(check: Check, value: JsonValue, pointer: string): void {
  checkText(check, value, pointer, LIMITS.nameChars);
  if (typeof value !== "string" || !value.startsWith("xstate.")) return;
  check.errors.add(
    pointer,
    "reserved_id",
    "Ids that begin with `xstate.` belong to XState's own timers.",
  );
}

function checkName(check: Check, name: string, pointer: string): void {
  const { actions } = check.implementations;
  if (Object.hasOwn(actions, name) && !name.startsWith("@")) return;
  check.errors.add(pointer, "unknown_action", () => {
    if (isBuiltInAction(name)) return `${name} needs more than its name: ${exampleOf(name)}.`;
    const builtIn = builtInLike(name);
    if (builtIn !== undefined) return `Write it as data: ${exampleOf(builtIn)}.`;
    const near = suggestion(name, [...Object.keys(actions), ...Object.keys(BUILT_IN_ACTIONS)]);
    return `No action is named ${quoted(name)}.${near} Write it as data: ${exampleOf("@xstate.assign")}.`;
  });
}

/** `xstate.assign` is what XState calls it in code; `assign` is how it is imported. */
function builtInLike(name: string): BuiltInAction | undefined {
  const word = name.replace(/^@?(?:xstate|perdure)\./, "");
  const builtIns = Object.keys(BUILT_IN_ACTIONS) as BuiltInAction[];
  return builtIns.find((type) => type.endsWith(`.${word}`));
}

function exampleOf(type: BuiltInAction): string {
  return EXAMPLES[type];
}

const EXAMPLES: Record<BuiltInAction, string> = {
  "@xstate.assign": '{"type": "@xstate.assign", "context": {"n": {"@expr": "context.n + 1"}}}',
  "@xstate.raise": '{"type": "@xstate.raise", "event": {"type": "remind"}, "delay": 60000}',
  "@xstate.cancel": '{"type": "@xstate.cancel", "id": "reminder"}',
  "@xstate.emit": '{"type": "@xstate.emit", "event": {"type": "paid"}}',
  "@xstate.log": '{"type": "@xstate.log", "args": [{"@expr": "context.n"}]}',
  "@perdure.setRef":
    '{"type": "@perdure.setRef", "name": "invoice", "value": {"@expr": "event.invoice"}}',
  "@xstate.sendTo": '{"type": "@xstate.sendTo", "to": "#_parent", "event": {"type": "paid"}}',
  "@xstate.spawnChild":
    '{"type": "@xstate.spawnChild", "src": "actor", "id": "child", "input": {"definitionId": "loan"}}',
  "@xstate.stopChild": '{"type": "@xstate.stopChild", "id": "child"}',
};
