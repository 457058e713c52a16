import { ID_PATTERN } from "../base/ids.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { implementations as deployed } from "../implementations/index.ts";
import { checkActions } from "./check/actions.ts";
import { checkEndlessAlways } from "./check/always.ts";
import type { Check } from "./check/context.ts";
import { readData } from "./check/data.ts";
import { checkDelays } from "./check/delays.ts";
import { checkEventCodes } from "./check/events.ts";
import { readFlow } from "./check/flow.ts";
import { checkHistoryTargets } from "./check/history.ts";
import { checkInvokes } from "./check/invoke.ts";
import { Problems } from "./check/problems.ts";
import type { Errors, Warnings } from "./check/problems.ts";
import { startOf } from "./check/start.ts";
import { checkOptions, checkRoot, checkStates, mostActiveLeaves } from "./check/states.ts";
import { checkExpression, checkTemplate } from "./check/templates.ts";
import { checkTimerNames } from "./check/timers.ts";
import { checkTransitions } from "./check/transitions.ts";
import type { Transition } from "./check/transitions.ts";
import { readTree } from "./check/tree.ts";
import type { Tree } from "./check/tree.ts";
import { checkDoubts } from "./check/warnings.ts";
import { isExpression, own } from "./dialect.ts";
import type { Implementations } from "./implementations.ts";
import type { CheckReport, StateValue } from "./types.ts";

/**
 * Looks at a definition before anything is stored: everything wrong and everything doubtful at once,
 * LIMITS.problemsPerAnswer of each at most. Never throws, whatever it is given. docs/definitions.md
 * lists the codes.
 */
export function checkDefinition(
  definition: unknown,
  implementations: Implementations = deployed,
): CheckReport {
  const errors: Errors = new Problems();
  const warnings: Warnings = new Problems();
  const nothing = { family: null, states: [], events: [], initialState: null };
  const report = (more: Omit<CheckReport, "errors" | "warnings">): CheckReport => ({
    errors: errors.list(),
    warnings: warnings.list(),
    ...more,
  });

  const data = readData(definition, errors);
  if (data === null && !errors.none) return report(nothing);
  if (!isJsonObject(data)) {
    errors.add(
      "",
      "not_an_object",
      'A definition is an object: {"id": "loan", "initial": "draft", "states": {…}}.',
    );
    return report(nothing);
  }
  const family = checkFamily(data, errors);
  const tree = readTree(data, errors);
  if (tree === null) return report({ ...nothing, family });

  const check: Check = {
    errors,
    warnings,
    implementations,
    tree,
    delays: declaredDelays(data),
    expressions: new Map(),
    eventTypes: new Map(),
  };
  const transitions = checkParts(check);
  const initialState = checkWhole(check, transitions);
  return report({ family, states: pathsOf(tree), events: eventsOf(transitions), initialState });
}

function checkFamily(definition: JsonObject, errors: Errors): string | null {
  const id = own(definition, "id");
  if (typeof id === "string" && ID_PATTERN.test(id)) return id;
  if (id === undefined) {
    errors.add("", "missing_id", 'A machine needs an `id`, the name of its family: "id": "loan".');
  } else {
    errors.add(
      "/id",
      "invalid_id",
      "The machine's `id` has 1 to 200 of the characters A–Z a–z 0–9 . _ : -",
    );
  }
  return null;
}

function declaredDelays(definition: JsonObject): Set<string> {
  const delays = own(definition, "delays");
  return new Set(isJsonObject(delays) ? Object.keys(delays) : []);
}

/** Every part of the definition by itself. */
function checkParts(check: Check): Transition[] {
  const { tree, errors, warnings } = check;
  const { config } = tree.root;
  checkRoot(tree.root, errors);
  checkOptions(config, errors, warnings);
  checkDelays(check);
  const context = own(config, "context");
  if (context !== undefined && !isJsonObject(context)) {
    errors.add(
      "/context",
      "invalid_value",
      "`context` must be an object, or an expression that gives one.",
    );
  } else if (isExpression(context)) {
    checkExpression(check, context, "/context", "anywhere", "context");
  } else if (context !== undefined) checkTemplate(check, context, "/context");
  checkStates(tree, errors);
  for (const state of tree.all) {
    for (const key of ["entry", "exit"]) {
      checkActions(check, own(state.config, key), at(state.pointer, key));
    }
    const output = own(state.config, "output");
    if (output !== undefined) checkTemplate(check, output, at(state.pointer, "output"));
  }
  checkInvokes(check);
  const transitions = checkTransitions(check);
  checkTimerNames(check);
  checkEventCodes(check);
  return transitions;
}

/** How the parts work together, which only a definition without errors can tell. */
function checkWhole(check: Check, transitions: readonly Transition[]): StateValue | null {
  const { tree, errors } = check;
  const history = checkHistoryTargets(check);
  if (!errors.none) return null;
  const flow = readFlow(tree, transitions, history);
  checkDoubts(check, flow);
  checkEndlessAlways(check, flow);
  if (!errors.none) return null;
  const start = startOf(tree, mostActiveLeaves(tree.root));
  switch (start.kind) {
    case "endless":
      errors.add(
        "",
        "endless_start",
        `The machine does not come to rest within ${start.microsteps} microsteps of its start: look for \`always\`, \`onDone\` or raise in a circle.`,
      );
      return null;
    case "refused":
      errors.add(
        "",
        "refused",
        `XState does not take this machine: ${start.message.slice(0, 200)}`,
      );
      return null;
    case "state":
      if (!start.done) return start.value;
      errors.add(
        own(tree.root.config, "initial") === undefined ? "" : "/initial",
        "done_at_once",
        "The machine would be done as soon as it starts: its initial state leads to its final state without any event.",
      );
      return null;
  }
}

function pathsOf(tree: Tree): string[] {
  return tree.all.slice(1).map(({ path }) => path);
}

function eventsOf(transitions: readonly Transition[]): string[] {
  const descriptors = new Set<string>();
  for (const { trigger } of transitions) {
    if (trigger.kind === "on") descriptors.add(trigger.descriptor);
  }
  return [...descriptors].sort();
}
