import { isJsonObject } from "../../base/json.ts";
import type { JsonObject } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { INVOKE_KEYS, invokeId, isExpression, listed, own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { INSTEAD_OF_INVOKE_KEYS, checkKeys } from "./keys.ts";
import { quoted } from "./problems.ts";
import { checkActivity } from "./sources.ts";
import { Places } from "./together.ts";
import type { State } from "./tree.ts";

/** The activities of all states, but for their transitions. */
export function checkInvokes(check: Check): void {
  const places = new Map<string, Places>();
  const compensating = new Places();
  for (const state of check.tree.all) {
    const all = listed(own(state.config, "invoke"), at(state.pointer, "invoke"));
    for (const [index, { value, pointer }] of all.entries()) {
      if (!isJsonObject(value)) {
        check.errors.add(
          pointer,
          "invalid_value",
          'An invoke is an object: {"id": "charge", "src": "http", "input": {"url": "https://…"}}.',
        );
        continue;
      }
      const id = invokeId(value, index, state.path);
      checkInvoke(check, value, id, pointer);
      checkAlone(check, places, state, id, pointer);
      if (own(value, "src") === "compensate" && compensating.clashes(state)) {
        check.errors.add(
          pointer,
          "duplicate_compensation",
          "Two activities that undo can be active at once: there is one list of what is to be undone.",
        );
      }
    }
  }
}

function checkInvoke(check: Check, invoke: JsonObject, id: string, pointer: string): void {
  const { errors, warnings } = check;
  checkKeys(invoke, pointer, INVOKE_KEYS, "An invoke", INSTEAD_OF_INVOKE_KEYS, errors);
  if (own(invoke, "src") === undefined) {
    errors.add(pointer, "missing_key", "An invoke needs the name of a source as `src`.");
  }
  checkActivity(check, invoke, pointer);
  checkId(check, invoke, id, pointer);
  checkCompensation(check, invoke, pointer);
  if (own(invoke, "onError") === undefined) {
    warnings.add(
      pointer,
      "invoke_without_on_error",
      "Without `onError` the actor stays here and needs attention when the activity fails.",
    );
  }
  if (own(invoke, "src") === "approval" && remindsNobody(invoke)) {
    warnings.add(
      at(pointer, "input"),
      "approval_without_reminder",
      "Nobody is reminded of this approval and nothing escalates it: leave `reminders` out for one after a day, or add `escalate`.",
    );
  }
}

/** `made`: the one that it has where it gives none. */
function checkId(check: Check, invoke: JsonObject, made: string, pointer: string): void {
  const id = own(invoke, "id");
  if (id === undefined && made.endsWith(".*")) {
    check.errors.add(
      pointer,
      "invalid_id",
      "In a state whose key is `*` an invoke needs an `id`: XState would give its results to others.",
    );
  } else if (id === undefined) {
    check.warnings.add(
      pointer,
      "invoke_without_id",
      "Give it an `id`: the one that XState makes changes when states are renamed or invokes reordered.",
    );
  } else if (typeof id !== "string" || id.length > LIMITS.nameChars || !ID.test(id)) {
    check.errors.add(
      at(pointer, "id"),
      "invalid_id",
      `An invoke's \`id\` is a string of 1 to ${LIMITS.nameChars} characters (limit nameChars), without \`*\` or control characters, that does not begin with \`#\` or \`@\`.`,
    );
  }
}

/** XState takes `*` at the end of a descriptor for a wildcard; `#_parent` means another actor. */
const ID = /^(?![#@])[^*\p{Cc}]+$/u;

function checkAlone(
  check: Check,
  places: Map<string, Places>,
  state: State,
  id: string,
  pointer: string,
): void {
  const known = places.get(id) ?? new Places();
  places.set(id, known);
  if (!known.clashes(state)) return;
  check.errors.add(
    pointer,
    "duplicate_id",
    () => `Two activities that can be active at once have the id ${quoted(id)}; give each its own.`,
  );
}

const CANNOT_UNDO = {
  compensate: "What undoes one activity cannot be `compensate`, which undoes them all.",
  approval: "Nobody is asked while things are undone: use `http`, `task` or a source in code.",
  actor: "A child cannot undo: use `http`, `task` or a source in code.",
};

function checkCompensation(check: Check, invoke: JsonObject, pointer: string): void {
  const compensate = own(invoke, "compensate");
  if (compensate === undefined) return;
  const place = at(pointer, "compensate");
  if (!isJsonObject(compensate)) {
    check.errors.add(
      place,
      "invalid_value",
      'What undoes an activity is an object: {"src": "http", "input": {"url": "https://…"}}.',
    );
    return;
  }
  checkKeys(compensate, place, ["src", "input"], "`compensate`", {}, check.errors);
  if (own(compensate, "src") === undefined) {
    check.errors.add(place, "missing_key", "`compensate` needs the name of a source as `src`.");
  }
  checkActivity(check, compensate, place, CANNOT_UNDO);
  if (own(invoke, "src") === "compensate") {
    check.errors.add(place, "invalid_value", "What undoes others is not undone itself.");
  }
}

/** Where nothing is said of reminders there is one. */
function remindsNobody(invoke: JsonObject): boolean {
  const input = own(invoke, "input");
  if (!isJsonObject(input) || isExpression(input)) return false;
  return isEmptyList(own(input, "reminders")) && isEmptyList(own(input, "escalate") ?? []);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
