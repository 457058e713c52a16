import { isJsonObject } from "../../base/json.ts";
import type { JsonObject } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { INVOKE_KEYS, listed, own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { INSTEAD_OF_INVOKE_KEYS, checkKeys } from "./keys.ts";
import { checkSource } from "./sources.ts";
import { checkTemplate } from "./templates.ts";
import type { State } from "./tree.ts";

/** The activities of a state, but for their transitions. */
export function checkInvokes(check: Check, state: State): void {
  for (const { value, pointer } of listed(
    own(state.config, "invoke"),
    at(state.pointer, "invoke"),
  )) {
    if (isJsonObject(value)) checkInvoke(check, value, pointer);
    else
      check.errors.add(
        pointer,
        "invalid_value",
        'An invoke is an object: {"id": "charge", "src": "http"}.',
      );
  }
}

function checkInvoke(check: Check, invoke: JsonObject, pointer: string): void {
  const { errors, warnings } = check;
  checkKeys(invoke, pointer, INVOKE_KEYS, "An invoke", INSTEAD_OF_INVOKE_KEYS, errors);
  const src = own(invoke, "src");
  const id = own(invoke, "id");
  const input = own(invoke, "input");
  if (src === undefined) {
    errors.add(pointer, "missing_key", "An invoke needs the name of a source as `src`.");
  } else checkSource(check, src, at(pointer, "src"));
  if (input !== undefined) checkTemplate(check, input, at(pointer, "input"));
  if (id === undefined) {
    warnings.add(
      pointer,
      "invoke_without_id",
      "Give it an `id`: the one that XState makes changes when states are renamed or invokes reordered.",
    );
  } else if (typeof id !== "string" || id === "" || id.length > LIMITS.nameChars) {
    errors.add(
      at(pointer, "id"),
      "invalid_id",
      `An invoke's \`id\` must be a string of 1 to ${LIMITS.nameChars} characters (limit nameChars).`,
    );
  }
  if (own(invoke, "onError") === undefined) {
    warnings.add(
      pointer,
      "invoke_without_on_error",
      "Without `onError` the actor stays here and needs attention when the activity fails.",
    );
  }
  if (src === "approval" && !remindsAnyone(invoke)) {
    warnings.add(
      at(pointer, "input"),
      "approval_without_reminder",
      "Nobody is reminded of this approval and nothing escalates it: add `reminders` or `escalate` to its input.",
    );
  }
}

function remindsAnyone(invoke: JsonObject): boolean {
  const input = own(invoke, "input");
  if (!isJsonObject(input)) return false;
  if (Object.hasOwn(input, "@expr")) return true;
  return Object.hasOwn(input, "reminders") || Object.hasOwn(input, "escalate");
}
