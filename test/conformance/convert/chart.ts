import type { Case } from "../suite.ts";
import type { Expression, Scope } from "./cel.ts";
import { literalOf } from "./javascript.ts";
import { NotConverted } from "./not-converted.ts";
import { childrenOf, parseXml } from "./xml.ts";
import type { Element } from "./xml.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type Kind = "atomic" | "compound" | "parallel" | "final" | "history";

export interface State {
  element: Element;
  kind: Kind;
  /** As SCXML has it. */
  id: string;
  /** As the definition has it, key and id in one: a dot would be a path there. */
  key: string;
  parent: State | null;
  children: State[];
}

/** An SCXML document, read. */
export interface Chart {
  name: string;
  root: State;
  byId: Map<string, State>;
  /** What the data hold at first. */
  data: Map<string, Json>;
  /** Every event that can occur, by name. */
  events: Set<string>;
  /** States whose end a transition of another state waits for: they say it by an event of their own. */
  announced: Set<State>;
  /** What each expression of the definition was in the chart. */
  sources: Map<string, string>;
  /** Members that the converter adds to the context: what each `if` decided. */
  flags: string[];
}

const STATES = ["state", "parallel", "final", "history"];

export function readChart({ name, scxml, script }: Case): Chart {
  const document = parseXml(scxml);
  const root = readState(document, null);
  root.key = name.replaceAll(/[^\w.-]/g, "-");
  const chart: Chart = {
    name: root.key,
    root,
    byId: new Map(),
    data: new Map(),
    events: new Set(script.events.map(({ event }) => event.name)),
    announced: new Set(),
    sources: new Map(),
    flags: [],
  };
  const keys = new Set<string>();
  for (const state of descendants(root)) {
    if (keys.has(state.key)) throw new Error(`${name}: two states are called ${state.key}`);
    keys.add(state.key);
    chart.byId.set(state.id, state);
  }
  for (const element of elements(document)) readElement(chart, element);
  for (const state of descendants(root)) {
    if (isAnnounced(chart, state)) {
      chart.announced.add(state);
      chart.events.add(`done.state.${state.id}`);
    }
  }
  return chart;
}

function readState(element: Element, parent: State | null, place = 0): State {
  const id = element.attributes["id"] ?? `${parent?.id ?? "unnamed"}_${place}`;
  const state: State = {
    element,
    kind: "atomic",
    id,
    key: id.replaceAll(".", "_"),
    parent,
    children: [],
  };
  state.children = childrenOf(element, ...STATES).map((child, place) =>
    readState(child, state, place),
  );
  if (element.name === "parallel" || element.name === "final" || element.name === "history") {
    state.kind = element.name;
  } else if (state.children.length > 0) {
    state.kind = "compound";
  }
  return state;
}

/** What may stand anywhere: data, and events that the chart sends itself. */
function readElement(chart: Chart, { name, attributes, text, children }: Element): void {
  if (name === "data") {
    const { id = "", expr, src } = attributes;
    if (src !== undefined || children.length > 0)
      throw new NotConverted("data that are files or XML");
    chart.data.set(id, initialValue(expr ?? text));
  }
  if (name === "raise" || name === "send") {
    const event = attributes["event"] ?? literalOf(attributes["eventexpr"] ?? "");
    if (typeof event === "string") chart.events.add(event);
  }
  if (name === "scxml" && attributes["binding"] === "late") throw new NotConverted("late binding");
}

function initialValue(js: string): Json {
  if (js === "") return null;
  const value = literalOf(js);
  if (value === undefined) {
    const isSystem = /\b_[a-z]/.test(js);
    throw new NotConverted(isSystem ? "system variables" : "data that are computed at the start");
  }
  return value as Json;
}

/** What a transition waits for, without `.` or `.*` at the end: a name, and all names below it. */
export function descriptors(transition: Element): string[] {
  const tokens = (transition.attributes["event"] ?? "")
    .split(/\s+/)
    .filter((token) => token !== "");
  return tokens.map((token) => (token === "*" ? token : token.replace(/\.\*?$/, "")));
}

function isAnnounced(chart: Chart, state: State): boolean {
  if (state.kind !== "compound" && state.kind !== "parallel") return false;
  const done = `done.state.${state.id}`;
  return descendants(chart.root, true).some((source) =>
    childrenOf(source.element, "transition")
      .flatMap(descriptors)
      .some(
        (token) =>
          (token === done && source !== state) || (token !== "*" && done.startsWith(`${token}.`)),
      ),
  );
}

function descendants(state: State, andSelf = false): State[] {
  return [
    ...(andSelf ? [state] : []),
    ...state.children.flatMap((child) => descendants(child, true)),
  ];
}

export function isDescendant(state: State, ancestor: State): boolean {
  for (let at = state.parent; at !== null; at = at.parent) if (at === ancestor) return true;
  return false;
}

export function stateOf(chart: Chart, id: string): State {
  const state = chart.byId.get(id);
  if (state === undefined) throw new NotConverted("states that are not there");
  return state;
}

export function targetsOf(chart: Chart, list: string | undefined): State[] {
  const ids = (list ?? "").split(/\s+/).filter((id) => id !== "");
  return ids.map((id) => stateOf(chart, id));
}

export function reference(states: State[]): Json {
  const targets = states.map(({ key }) => `#${key}`);
  return targets.length === 1 ? targets[0]! : targets;
}

/** An expression as the definition has it; what it was is kept for who runs the chart otherwise. */
export function asTemplate(chart: Chart, { cel, js }: Expression): JsonObject {
  chart.sources.set(cel, js);
  return { "@expr": cel };
}

/** What an expression of the chart may name. */
export function scopeOf({ data }: Chart, eventData: Scope["eventData"] = "data"): Scope {
  return { data: new Set(data.keys()), eventData };
}

function* elements(element: Element): Iterable<Element> {
  yield element;
  for (const child of element.children) yield* elements(child);
}
