import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { TRANSITION_KEYS, listed, own } from "../dialect.ts";
import { checkActions, checkPatch } from "./actions.ts";
import type { Check } from "./context.ts";
import { checkDelayKey } from "./delays.ts";
import { checkDescriptor } from "./events.ts";
import { checkGuard } from "./guards.ts";
import { INSTEAD_OF_TRANSITION_KEYS, checkKeys } from "./keys.ts";
import { areCompatible, resolveTarget } from "./targets.ts";
import { refuseExpressions } from "./templates.ts";
import type { State } from "./tree.ts";

/** What a transition answers to. */
export type Trigger =
  | { kind: "on"; descriptor: string }
  | { kind: "after" | "always" | "done" }
  /** The result of an activity. */
  | { kind: "invoke"; src: JsonValue; result: "onDone" | "onError" };

export interface Transition {
  readonly source: State;
  readonly trigger: Trigger;
  readonly config: JsonObject;
  readonly pointer: string;
  /** Empty when it stays. */
  readonly targets: readonly State[];
  readonly reenter: boolean;
  /** Whether it may be passed over when its trigger comes. */
  readonly guarded: boolean;
}

export function checkTransitions(check: Check): Transition[] {
  return check.tree.all.flatMap((state) => new TransitionReader(check, state).read());
}

class TransitionReader {
  readonly #check: Check;
  readonly #state: State;
  readonly #found: Transition[] = [];

  constructor(check: Check, state: State) {
    this.#check = check;
    this.#state = state;
  }

  read(): Transition[] {
    const { config, pointer } = this.#state;
    this.#each("on", (descriptor, value, place) => {
      if (checkDescriptor(this.#check, descriptor, place)) {
        this.#list(value, place, { kind: "on", descriptor });
      }
    });
    this.#each("after", (key, value, place) => {
      checkDelayKey(this.#check, key, place);
      this.#list(value, place, { kind: "after" });
    });
    this.#list(own(config, "always"), at(pointer, "always"), { kind: "always" });
    this.#list(own(config, "onDone"), at(pointer, "onDone"), { kind: "done" });
    for (const invoke of listed(own(config, "invoke"), at(pointer, "invoke"))) {
      if (!isJsonObject(invoke.value)) continue;
      const src = own(invoke.value, "src") ?? null;
      for (const result of ["onDone", "onError"] as const) {
        const trigger = { kind: "invoke", src, result } as const;
        this.#list(own(invoke.value, result), at(invoke.pointer, result), trigger);
      }
    }
    return this.#found;
  }

  #each(
    key: "on" | "after",
    visit: (name: string, value: JsonValue, pointer: string) => void,
  ): void {
    const { config, pointer } = this.#state;
    const members = own(config, key);
    const place = at(pointer, key);
    if (members === undefined) return;
    if (isJsonObject(members)) {
      for (const [name, value] of Object.entries(members)) visit(name, value, at(place, name));
    } else if (key === "on") {
      this.#check.errors.add(place, "invalid_value", '`on` must be an object: {"paid": "done"}.');
    } else {
      this.#check.errors.add(
        place,
        "invalid_value",
        '`after` must be an object: {"60000": "expired"}.',
      );
    }
  }

  #list(value: JsonValue | undefined, pointer: string, trigger: Trigger): void {
    if (Array.isArray(value) && value.length === 0) {
      this.#check.errors.add(
        pointer,
        "invalid_transition",
        "An empty list does nothing: leave it out, or write {} to forbid what states above would do.",
      );
    }
    let taken: string | null = null;
    for (const item of listed(value, pointer)) {
      const transition = this.#transition(item.value, item.pointer, trigger);
      if (transition === null) continue;
      if (taken === pointer) {
        this.#check.warnings.add(
          item.pointer,
          "never_taken",
          "The transition before it has no guard and is always taken; put this one first, or remove it.",
        );
        taken = item.pointer;
      } else if (taken === null && !transition.guarded) taken = pointer;
      this.#found.push(transition);
    }
  }

  #transition(value: JsonValue, pointer: string, trigger: Trigger): Transition | null {
    const { errors } = this.#check;
    if (typeof value !== "string" && !isJsonObject(value)) {
      errors.add(
        pointer,
        "invalid_transition",
        "A transition is a target, an object, or an array of those; {} forbids the event.",
      );
      return null;
    }
    const config = typeof value === "string" ? { target: value } : value;
    if (typeof value !== "string") this.#checkMembers(value, pointer, trigger);
    const place = typeof value === "string" ? pointer : at(pointer, "target");
    return {
      source: this.#state,
      trigger,
      config,
      pointer,
      targets: this.#targets(own(config, "target"), place),
      reenter: own(config, "reenter") === true,
      guarded: own(config, "guard") !== undefined || own(config, "matches") !== undefined,
    };
  }

  #checkMembers(config: JsonObject, pointer: string, trigger: Trigger): void {
    const check = this.#check;
    const { errors } = check;
    checkKeys(config, pointer, TRANSITION_KEYS, "A transition", INSTEAD_OF_TRANSITION_KEYS, errors);
    const guard = own(config, "guard");
    if (guard !== undefined) {
      const place = trigger.kind === "always" ? "always_guard" : "anywhere";
      checkGuard(check, guard, at(pointer, "guard"), place);
    }
    checkActions(check, own(config, "actions"), at(pointer, "actions"));
    const patch = own(config, "context");
    if (patch !== undefined) checkPatch(check, patch, at(pointer, "context"));
    const reenter = own(config, "reenter");
    if (reenter !== undefined && typeof reenter !== "boolean") {
      errors.add(at(pointer, "reenter"), "invalid_value", "`reenter` must be true or false.");
    }
    const description = own(config, "description");
    if (description !== undefined && typeof description !== "string") {
      errors.add(at(pointer, "description"), "invalid_value", "`description` must be a string.");
    }
    const matches = own(config, "matches");
    if (matches === undefined) return;
    if (isJsonObject(matches))
      refuseExpressions(check, matches, at(pointer, "matches"), "`matches`");
    else
      errors.add(
        at(pointer, "matches"),
        "invalid_value",
        '`matches` must be an object: {"ok": true}.',
      );
  }

  #targets(target: JsonValue | undefined, pointer: string): State[] {
    if (target === undefined) return [];
    const { errors } = this.#check;
    if (target === "" || (Array.isArray(target) && target.length === 0)) {
      errors.add(
        pointer,
        "invalid_target",
        "The target is empty; leave it out to stay where it is.",
      );
      return [];
    }
    const targets: State[] = [];
    for (const item of listed(target, pointer)) {
      if (typeof item.value !== "string") {
        errors.add(
          item.pointer,
          "invalid_target",
          "A target must be a string; leave it out to stay where it is.",
        );
        continue;
      }
      const found = resolveTarget(this.#check.tree, this.#state, item.value);
      if (found.state !== null) targets.push(found.state);
      else errors.add(item.pointer, "unknown_target", found.why);
    }
    if (areCompatible(targets)) return targets;
    errors.add(
      pointer,
      "conflicting_targets",
      "Several targets must lie in different regions of a parallel state, for they are to be active together.",
    );
    return [];
  }
}
