import type { JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { listed, own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { areCompatible, isWithin, resolveTarget } from "./targets.ts";
import type { State } from "./tree.ts";

/** Where each history state leads as long as nothing is remembered; empty when that is its parent's start. */
export type HistoryTargets = ReadonlyMap<State, readonly State[]>;

export function checkHistoryTargets(check: Check): HistoryTargets {
  const targets = new Map<State, State[]>();
  for (const state of check.tree.all) {
    if (state.type !== "history" || state.parent === null) continue;
    targets.set(state, defaultTargets(check, state, state.parent));
  }
  for (const state of targets.keys()) {
    if (!leadsTo(targets, state, state, new Set())) continue;
    check.errors.add(
      at(state.pointer, "target"),
      "history_cycle",
      "History states lead to each other in a circle; give one of them a state as its target.",
    );
  }
  return targets;
}

function defaultTargets(check: Check, state: State, parent: State): State[] {
  const { errors } = check;
  const place = at(state.pointer, "target");
  const found: State[] = [];
  for (const { value, pointer } of listed(own(state.config, "target"), place)) {
    const target = targetText(value);
    if (target === null) {
      errors.add(
        pointer,
        "invalid_target",
        'A history state\'s target is a state beside it, or "#id".',
      );
      continue;
    }
    const resolved = resolveTarget(check.tree, state, target);
    if (resolved.state === null) {
      errors.add(pointer, "unknown_target", resolved.why);
    } else if (isWithin(resolved.state, parent)) {
      found.push(resolved.state);
    } else {
      errors.add(
        pointer,
        "history_target_outside",
        "A history state leads back into the state that holds it; its target must lie in there.",
      );
    }
  }
  if (areCompatible(found)) return found;
  errors.add(
    place,
    "conflicting_targets",
    "Several targets must lie in different regions of a parallel state.",
  );
  return [];
}

/** XState takes a leading dot for the parent itself. */
function targetText(value: JsonValue): string | null {
  return typeof value === "string" && value !== "" && !value.startsWith(".") ? value : null;
}

function leadsTo(
  targets: ReadonlyMap<State, readonly State[]>,
  from: State,
  to: State,
  seen: Set<State>,
): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  return (targets.get(from) ?? []).some(
    (target) => target === to || leadsTo(targets, target, to, seen),
  );
}
