import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { BUILT_IN_GUARDS, isBuiltInGuard, isExpression, own } from "../dialect.ts";
import type { BuiltInGuard } from "../dialect.ts";
import type { Check } from "./context.ts";
import { INSTEAD_OF_GUARD_KEYS, checkKeys } from "./keys.ts";
import { meantAsExpression } from "./lookalikes.ts";
import { quoted, suggestion } from "./problems.ts";
import { resolveId } from "./targets.ts";
import { checkExpression, checkTemplate } from "./templates.ts";
import type { Place } from "./templates.ts";

export function checkGuard(check: Check, guard: JsonValue, pointer: string, place: Place): void {
  if (isExpression(guard)) {
    checkExpression(check, guard, pointer, place, "guard");
    return;
  }
  if (typeof guard === "string") {
    checkName(check, guard, pointer);
    return;
  }
  const type = isJsonObject(guard) ? own(guard, "type") : undefined;
  if (!isJsonObject(guard) || typeof type !== "string") {
    check.errors.add(pointer, "invalid_guard", () => {
      const meant = isJsonObject(guard) ? meantAsExpression(guard) : "";
      return `A guard is an expression, {"@expr": "context.amount > 1000"}, a name, or {"type", "params"}.${meant}`;
    });
    return;
  }
  checkKeys(guard, pointer, ["type", "params"], "A guard", INSTEAD_OF_GUARD_KEYS, check.errors);
  if (isBuiltInGuard(type)) {
    checkBuiltIn(check, type, own(guard, "params"), at(pointer, "params"), place);
    return;
  }
  checkName(check, type, at(pointer, "type"));
  const params = own(guard, "params");
  if (params !== undefined) checkTemplate(check, params, at(pointer, "params"), place);
}

function checkBuiltIn(
  check: Check,
  type: BuiltInGuard,
  params: JsonValue | undefined,
  pointer: string,
  place: Place,
): void {
  const key = BUILT_IN_GUARDS[type];
  const value = isJsonObject(params) ? own(params, key) : undefined;
  if (!isJsonObject(params) || value === undefined) {
    check.errors.add(pointer, "invalid_guard", `${type} needs ${shapeOf(type)}.`);
    return;
  }
  checkKeys(params, pointer, [key], `${type}`, {}, check.errors);
  const below = at(pointer, key);
  if (type === "xstate.stateIn") {
    checkStateIn(check, value, below);
  } else if (type === "xstate.not") {
    checkGuard(check, value, below, place);
  } else if (Array.isArray(value)) {
    value.forEach((item: JsonValue, index) => checkGuard(check, item, at(below, index), place));
  } else {
    check.errors.add(below, "invalid_guard", `${type} needs ${shapeOf(type)}.`);
  }
}

function shapeOf(type: BuiltInGuard): string {
  switch (type) {
    case "xstate.stateIn":
      return '{"params": {"stateId": "#id"}}';
    case "xstate.not":
      return '{"params": {"guard": …}}';
    default:
      return '{"params": {"guards": […]}}';
  }
}

function checkStateIn(check: Check, reference: JsonValue, pointer: string): void {
  if (typeof reference !== "string" || !reference.startsWith("#")) {
    const id = `#${check.tree.root.id}.path.to.state`;
    check.errors.add(
      pointer,
      "invalid_guard",
      () => `\`stateId\` is "#" and a state's id, or its path below the machine: ${quoted(id)}.`,
    );
    return;
  }
  const found = resolveId(check.tree, reference);
  if (found.state === null) {
    check.errors.add(pointer, "unknown_target", found.why);
  } else if (found.state.type === "history") {
    check.errors.add(
      pointer,
      "invalid_guard",
      "A machine is never in a history state; name the state it leads to.",
    );
  }
}

function checkName(check: Check, name: string, pointer: string): void {
  const { guards } = check.implementations;
  if (Object.hasOwn(guards, name)) return;
  check.errors.add(pointer, "unknown_guard", () => {
    const known = [...Object.keys(guards), ...Object.keys(BUILT_IN_GUARDS)];
    const near = suggestion(name, known);
    return `No guard is named ${quoted(name)}.${near} Write it as an expression: ${asExpression(name)}.`;
  });
}

/** What looks like an expression already is shown as one. */
function asExpression(name: string): string {
  const example = /[\s=<>!&|()]/.test(name) && name.length <= 80 ? name : "context.amount > 1000";
  return JSON.stringify({ guard: { "@expr": example } } satisfies JsonObject).slice(1, -1);
}
