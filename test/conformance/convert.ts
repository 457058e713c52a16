import { MS, actionsOf, dataOf } from "./actions.ts";
import { asTemplate, descriptors, isDescendant, readChart, reference, targetsOf } from "./chart.ts";
import type { Chart, Json, JsonObject, State } from "./chart.ts";
import type { Scope } from "./expression.ts";
import { guardOf } from "./guard.ts";
import { NotConverted } from "./not-converted.ts";
import type { Case, Script } from "./suite.ts";
import { childrenOf } from "./xml.ts";
import type { Element } from "./xml.ts";

/** A case as Perdure runs it. */
export interface Converted {
  name: string;
  /** A machine as data, as `PUT /v1/definitions` takes it. */
  definition: JsonObject;
  steps: Step[];
  /** The chart's id of each state, by its key in the definition. */
  ids: Map<string, string>;
  /** What each expression of the definition was in the chart. */
  sources: Map<string, string>;
}

/** One thing that happens to an actor, and which states without children are active then; null: not said. */
export interface Step {
  happens: { start: true } | { advanceMs: number } | { event: string };
  expected: string[] | null;
}

/**
 * Charts that nobody sends events to run through as soon as they start. These wait for one first,
 * so that there is a moment before which an actor can be evicted.
 */
const BEGIN = "begin";

export function convert(test: Case): Converted {
  const chart = readChart(test);
  const waits = test.script.events.length === 0;
  const root = stateConfig(chart, chart.root, waits ? BEGIN : null);
  const context = Object.fromEntries([
    ...chart.data,
    ...chart.flags.map((flag) => [flag, false] as const),
  ]);
  return {
    name: test.name,
    definition: { ...root, id: chart.name, context },
    steps: stepsOf(test.script, keyBefore(chart.root)),
    ids: new Map([...chart.byId.values()].map(({ key, id }) => [key, id])),
    sources: chart.sources,
  };
}

function stepsOf({ initialConfiguration, events }: Script, waiting: string): Step[] {
  const start = { start: true } as const;
  if (events.length === 0) {
    return [
      { happens: start, expected: [waiting] },
      { happens: { event: BEGIN }, expected: initialConfiguration },
    ];
  }
  return [
    { happens: start, expected: initialConfiguration },
    ...events.flatMap(({ event: { name }, after = 0, nextConfiguration: expected }): Step[] => {
      const wait = { advanceMs: after * MS };
      // One script means by an event without a name that only time passes.
      if (name === "") return [{ happens: wait, expected }];
      const sent = { happens: { event: name }, expected };
      return after === 0 ? [sent] : [{ happens: wait, expected: null }, sent];
    }),
  ];
}

/** `on`: the first state is entered not at once but by this event. */
function stateConfig(chart: Chart, state: State, on: string | null = null): JsonObject {
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

function scopeOf(chart: Chart, eventData: Scope["eventData"] = "data"): Scope {
  return { data: new Set(chart.data.keys()), eventData };
}

function historyConfig(chart: Chart, { element, key }: State): JsonObject {
  const [transition] = childrenOf(element, "transition");
  if (transition === undefined) throw new NotConverted("history states without a default");
  if (transition.children.length > 0) throw new NotConverted("history states that act");
  const target = reference(targetsOf(chart, transition.attributes["target"]));
  return { id: key, type: "history", history: element.attributes["type"] ?? "shallow", target };
}

function addTransitions(chart: Chart, state: State, config: JsonObject): void {
  const on: Record<string, Json[]> = {};
  const always: Json[] = [];
  const onDone: Json[] = [];
  if (chart.announced.has(state)) onDone.push(announcement(chart, state));
  for (const element of childrenOf(state.element, "transition")) {
    const tokens = descriptors(element);
    const own = tokens.filter(
      (token) => token === `done.state.${state.id}` && !chart.announced.has(state),
    );
    if (tokens.length === 0) always.push(transitionConfig(chart, state, element, scopeOf(chart)));
    if (own.length > 0)
      onDone.push(transitionConfig(chart, state, element, scopeOf(chart, "output")));
    for (const token of tokens) {
      if (own.includes(token)) continue;
      const config = transitionConfig(chart, state, element, scopeOf(chart));
      (on[keyOf(chart, element, token)] ??= []).push(config);
    }
  }
  if (Object.keys(on).length > 0) config["on"] = on;
  if (always.length > 0) config["always"] = always;
  if (onDone.length > 0) config["onDone"] = onDone;
}

/** A name stands for all names below it; that is written only where there are such. */
function keyOf(chart: Chart, { attributes }: Element, token: string): string {
  if (token === "*") return token;
  const isWritten = (attributes["event"] ?? "").split(/\s+/).includes(`${token}.*`);
  const hasBelow = [...chart.events].some((event) => event.startsWith(`${token}.`));
  return isWritten || hasBelow ? `${token}.*` : token;
}

/** In SCXML anybody may wait for the end of a state; here it tells the others. */
function announcement(chart: Chart, state: State): Json {
  const type = `done.state.${state.id}`;
  const hasData = state.children.some(({ element }) => childrenOf(element, "donedata").length > 0);
  const data = hasData
    ? { data: asTemplate(chart, { cel: "event.output", js: "_event.data" }) }
    : {};
  return { actions: [{ type: "@xstate.raise", event: { type, ...data } }] };
}

function transitionConfig(
  chart: Chart,
  source: State,
  { attributes, children }: Element,
  scope: Scope,
): JsonObject {
  const config: JsonObject = {};
  const targets = targetsOf(chart, attributes["target"]);
  if (targets.length > 0) config["target"] = reference(targets);
  const inside = targets.filter((target) => isDescendant(target, source));
  const isInternal =
    attributes["type"] === "internal" &&
    source.kind === "compound" &&
    inside.length === targets.length;
  if (!isInternal && (inside.length > 0 || targets.includes(source))) config["reenter"] = true;
  const { cond } = attributes;
  if (cond !== undefined) config["guard"] = guardOf(chart, cond, scope);
  const actions = actionsOf(chart, children, scope);
  if (actions.length > 0) config["actions"] = actions;
  return config;
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

function keyBefore(state: State): string {
  return `before_${state.parent === null ? "all" : state.key}`;
}
