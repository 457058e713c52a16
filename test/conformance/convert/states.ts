import { actionsOf, dataOf } from "./actions.ts";
import { reference, scopeOf, targetsOf } from "./chart.ts";
import type { Chart, JsonObject, State } from "./chart.ts";
import { NotConverted } from "./not-converted.ts";
import { addTransitions } from "./transitions.ts";
import { childrenOf } from "./xml.ts";

/** `on`: the first state is entered not at once but by this event. */
export function stateConfig(chart: Chart, state: State, on: string | null = null): JsonObject {
  const { element, kind } = state;
  if (childrenOf(element, "invoke").length > 0) throw new NotConverted("invoke");
  if (childrenOf(element, "script").length > 0)
    throw new NotConverted("scripts that do more than assign");
  if (kind === "history") return historyConfig(chart, state);
  const config: JsonObject = { id: state.key };
  if (kind === "parallel" || kind === "final") config["type"] = kind;
  for (const [key, name] of [
    ["entry", "onentry"],
    ["exit", "onexit"],
  ] as const) {
    const content = childrenOf(element, name).flatMap(({ children }) => children);
    const actions = actionsOf(chart, content, scopeOf(chart));
    if (actions.length > 0) config[key] = actions;
  }
  const [donedata] = childrenOf(element, "donedata");
  const output = donedata && dataOf(chart, donedata, scopeOf(chart));
  if (output !== undefined) config["output"] = output;
  addTransitions(chart, state, config);
  if (state.children.length > 0) {
    const states = Object.fromEntries(
      state.children.map((child) => [child.key, stateConfig(chart, child)]),
    );
    config["states"] = states;
    if (kind === "compound") addInitial(chart, state, config, states, on);
  }
  return config;
}

function historyConfig(chart: Chart, { element, key }: State): JsonObject {
  const [transition] = childrenOf(element, "transition");
  if (transition === undefined) throw new NotConverted("history states without a default");
  if (transition.children.length > 0) throw new NotConverted("history states that act");
  const target = reference(targetsOf(chart, transition.attributes["target"]));
  return { id: key, type: "history", history: element.attributes["type"] ?? "shallow", target };
}

/**
 * `initial` of a definition is the key of a child. Where a chart starts deeper, in several states,
 * in a remembered one, or acts on the way, a state is put before that leads on at once.
 */
function addInitial(
  chart: Chart,
  state: State,
  config: JsonObject,
  states: JsonObject,
  on: string | null,
): void {
  const [element] = childrenOf(state.element, "initial");
  const [transition] = element === undefined ? [] : childrenOf(element, "transition");
  const first = state.children.filter(({ kind }) => kind !== "history")[0];
  const written = transition?.attributes["target"] ?? state.element.attributes["initial"];
  const targets = written === undefined ? [first!] : targetsOf(chart, written);
  const [target] = targets;
  const isPlain = targets.length === 1 && target?.parent === state && target.kind !== "history";
  const actions = actionsOf(chart, transition?.children ?? [], scopeOf(chart));
  if (isPlain && actions.length === 0 && on === null) {
    config["initial"] = target.key;
    return;
  }
  const key = keyBefore(state);
  const lead: JsonObject = { target: reference(targets) };
  if (actions.length > 0) lead["actions"] = actions;
  config["initial"] = key;
  states[key] = on === null ? { always: lead } : { on: { [on]: lead } };
}

export function keyBefore(state: State): string {
  return `before_${state.parent === null ? "all" : state.key}`;
}
