import { actionsOf } from "./actions.ts";
import type { Scope } from "./cel.ts";
import { asTemplate, descriptors, isDescendant, reference, scopeOf, targetsOf } from "./chart.ts";
import type { Chart, Json, JsonObject, State } from "./chart.ts";
import { guardOf } from "./guard.ts";
import { childrenOf } from "./xml.ts";
import type { Element } from "./xml.ts";

/** `on`, `always` and `onDone` of a state. */
export function addTransitions(chart: Chart, state: State, config: JsonObject): void {
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
