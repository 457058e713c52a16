import { own } from "../dialect.ts";
import { at } from "../../base/pointer.ts";
import type { Check } from "./context.ts";
import { canBeDone, isConfigured } from "./flow.ts";
import type { Flow } from "./flow.ts";
import { capitalised } from "./problems.ts";
import type { State } from "./tree.ts";
import { described } from "./tree.ts";
import { readWaiting } from "./waiting.ts";
import { checkWildcards } from "./wildcards.ts";

/** What is allowed and yet seldom meant. */
export function checkDoubts(check: Check, flow: Flow): void {
  warnOfUnreachable(check, flow);
  warnOfWaiting(check, flow);
  warnOfEndings(check, flow);
  checkWildcards(check, flow);
}

/** Only the topmost state of what nothing leads into. */
function warnOfUnreachable({ warnings }: Check, { tree, reachable }: Flow): void {
  for (const state of tree.all) {
    if (reachable.has(state) || state.parent === null || !reachable.has(state.parent)) continue;
    warnings.add(
      state.pointer,
      "unreachable_state",
      () => `Nothing leads to ${described(state)}: no \`initial\`, no target, no history.`,
    );
  }
}

function warnOfWaiting({ warnings }: Check, flow: Flow): void {
  const { deadEnds, untimed } = readWaiting(flow);
  for (const leaf of deadEnds) {
    const message =
      leaf.type === "final"
        ? "ends here but not the machine: give a state above it an `onDone`, or another way out."
        : 'has no way out, nor has any state above it: make it final ("type": "final") or give it a transition.';
    warnings.add(leaf.pointer, "dead_end", () => `${capitalised(described(leaf))} ${message}`);
  }
  for (const leaf of untimed) {
    warnings.add(
      leaf.pointer,
      "no_timeout",
      () =>
        `${capitalised(described(leaf))} waits for an event from outside or for another actor, maybe for ever: add \`after\` with a target here or above.`,
    );
  }
}

function warnOfEndings({ warnings }: Check, flow: Flow): void {
  const { root, all } = flow.tree;
  if (!canBeDone(root, flow)) {
    warnings.add(
      "",
      "no_final_state",
      "The machine can never be done: it has no final state at its top level that anything leads to.",
    );
  }
  for (const state of all) {
    const isFinal = state.type === "final";
    if (isFinal && state.parent === root && ignoresOutput(state, root)) {
      warnings.add(
        at(state.pointer, "output"),
        "output_ignored",
        'The machine\'s output comes from the root alone; add "output": {"@expr": "event.output"} there.',
      );
    }
    if (isConfigured(state, "onDone") && !canBeDone(state, flow)) {
      warnings.add(
        at(state.pointer, "onDone"),
        "never_done",
        () =>
          `\`onDone\` never comes: ${described(state)} has no final state that anything leads to.`,
      );
    }
  }
}

function ignoresOutput(state: State, root: State): boolean {
  return own(state.config, "output") !== undefined && own(root.config, "output") === undefined;
}
