import { asTemplate } from "./chart.ts";
import type { Chart, Json, JsonObject } from "./chart.ts";
import { valueOf } from "./cel.ts";
import type { Expression, Scope } from "./cel.ts";
import { isBoolean, literalOf, parseJs, parseProgram } from "./javascript.ts";
import type { Node } from "./javascript.ts";
import { stateAskedFor } from "./guard.ts";
import { NotConverted } from "./not-converted.ts";
import { childrenOf } from "./xml.ts";
import type { Element } from "./xml.ts";

/** A ms of a chart is a minute here, so that no case depends on how fast a machine is. */
export const MS = 60_000;

const MORE_IN_IF = "actions other than assign in an if";
const SCXML_PROCESSOR = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor";

/** Executable content. Inside of an `if`, `when` is what decides; only assignments can obey it. */
export function actionsOf(
  chart: Chart,
  content: Element[],
  scope: Scope,
  when: Expression | null = null,
): Json[] {
  return content.flatMap((element) => {
    if (element.name === "log") return [];
    if (element.name === "assign") return [assign(chart, element, scope, when)];
    if (element.name === "script") {
      return assignmentsOf(element).map((each) => assign(chart, each, scope, when));
    }
    if (element.name === "if") return choose(chart, element, scope, when);
    if (when !== null) throw new NotConverted(MORE_IN_IF);
    if (element.name === "raise") {
      return [{ type: "@xstate.raise", event: { type: element.attributes["event"] ?? "" } }];
    }
    if (element.name === "send") return [send(chart, element, scope)];
    if (element.name === "cancel") return [cancel(element)];
    throw new NotConverted(element.name);
  });
}

function assign(chart: Chart, element: Element, scope: Scope, when: Expression | null): Json {
  const { location = "", expr } = element.attributes;
  if (location.startsWith("_")) throw new NotConverted("system variables");
  if (!chart.data.has(location)) throw new NotConverted("assignments to parts, or to nothing");
  if (element.children.length > 0) throw new NotConverted("data that are files or XML");
  const js = expr ?? element.text;
  if (when === null) {
    const known = literalOf(js);
    const value = known === undefined ? asTemplate(chart, valueOf(js, scope)) : (known as Json);
    return { type: "@xstate.assign", context: { [location]: value } };
  }
  const value = valueOf(js, scope);
  const decided = {
    cel: `${when.cel} ? dyn(${value.cel}) : dyn(context.${location})`,
    js: `${when.js} ? (${js}) : ${location}`,
  };
  return { type: "@xstate.assign", context: { [location]: asTemplate(chart, decided) } };
}

/** A script that only assigns says no more than `assign` does. */
function assignmentsOf({ attributes, text }: Element): Element[] {
  if (attributes["src"] !== undefined) throw new NotConverted("scripts that do more than assign");
  return parseProgram(text).map((statement) => {
    const { type, operator, left, right } = (statement["expression"] ?? {}) as Node & {
      operator: string;
      left: Node;
      right: Node;
    };
    if (type !== "AssignmentExpression" || left.type !== "Identifier") {
      throw new NotConverted("scripts that do more than assign");
    }
    const location = left["name"] as string;
    const value = text.slice(right["start"] as number, right["end"] as number);
    const expr = operator === "=" ? value : `${location} ${operator.slice(0, -1)} (${value})`;
    return { name: "assign", attributes: { location, expr }, children: [], text: "" };
  });
}

/** All branches of an `if` are decided first, each into a member of the context; then they act or not. */
function choose(chart: Chart, element: Element, scope: Scope, when: Expression | null): Json[] {
  const branches: { cond: string | null; content: Element[] }[] = [
    { cond: element.attributes["cond"] ?? "", content: [] },
  ];
  for (const child of element.children) {
    if (child.name === "else") branches.push({ cond: null, content: [] });
    else if (child.name === "elseif")
      branches.push({ cond: child.attributes["cond"] ?? "", content: [] });
    else branches.at(-1)?.content.push(child);
  }
  const actions: Json[] = [];
  const flags: Expression[] = [];
  for (const { cond } of branches) {
    const flag = `decided${chart.flags.length}`;
    chart.flags.push(flag);
    const earlier = flags.map(({ cel, js }) => ({ cel: `!${cel}`, js: `!${js}` }));
    const all = [...(when === null ? [] : [when]), ...earlier];
    if (cond !== null) all.push(condition(cond, scope));
    const decision = {
      cel: all.map(({ cel }) => cel).join(" && "),
      js: all.map(({ js }) => `(${js})`).join(" && "),
    };
    actions.push({ type: "@xstate.assign", context: { [flag]: asTemplate(chart, decision) } });
    flags.push({ cel: `context.${flag}`, js: flag });
  }
  for (const [index, { content }] of branches.entries()) {
    actions.push(...actionsOf(chart, content, scope, flags[index] ?? null));
  }
  return actions;
}

function condition(js: string, scope: Scope): Expression {
  if (stateAskedFor(parseJs(js)) !== null) throw new NotConverted(MORE_IN_IF);
  if (!isBoolean(parseJs(js))) throw new NotConverted("conditions that are neither true nor false");
  return valueOf(js, scope);
}

function send(chart: Chart, element: Element, scope: Scope): Json {
  const { attributes } = element;
  const target = attributes["target"] ?? constant(attributes["targetexpr"]);
  const type = attributes["type"] ?? constant(attributes["typeexpr"]);
  if (type !== undefined && type !== SCXML_PROCESSOR && type !== "scxml") {
    throw new NotConverted("other event processors");
  }
  const isInternal = target === "#_internal";
  if (target !== undefined && !isInternal) throw new NotConverted("events for other sessions");
  if (attributes["idlocation"] !== undefined) throw new NotConverted("sends that make up an id");
  const name = attributes["event"] ?? constant(attributes["eventexpr"]);
  if (name === undefined) throw new NotConverted("events without a name");
  const data = dataOf(chart, element, scope);
  const event: JsonObject = { type: name, ...(data === undefined ? {} : { data }) };
  if (isInternal) return { type: "@xstate.raise", event };
  const delay = delayOf(chart, attributes, scope);
  const { id } = attributes;
  return { type: "@xstate.raise", event, delay, ...(id === undefined ? {} : { id }) };
}

function cancel({ attributes }: Element): Json {
  const id = attributes["sendid"] ?? constant(attributes["sendidexpr"]);
  if (id === undefined) throw new NotConverted("sends that make up an id");
  return { type: "@xstate.cancel", id };
}

function constant(js: string | undefined): string | undefined {
  if (js === undefined) return undefined;
  const value = literalOf(js);
  if (typeof value !== "string")
    throw new NotConverted("sends whose event, target, type or id is computed");
  return value;
}

function delayOf(chart: Chart, attributes: Element["attributes"], scope: Scope): Json {
  const { delay, delayexpr } = attributes;
  if (delay !== undefined) return delayMs(delay);
  if (delayexpr === undefined) return 0;
  const known = literalOf(delayexpr);
  if (typeof known === "string") return delayMs(known);
  const { cel, js } = valueOf(delayexpr, scope);
  return asTemplate(chart, {
    cel: `duration(${cel}).getMilliseconds() * ${MS}`,
    js: `parseFloat(${js}) * ((${js}).endsWith("ms") ? 1 : 1000) * ${MS}`,
  });
}

function delayMs(delay: string): number {
  const [, amount = "", unit] = /^(\d*\.?\d+)(ms|s)$/.exec(delay.trim()) ?? [];
  if (unit === undefined) throw new NotConverted("delays that are none");
  return Number(amount) * (unit === "s" ? 1000 : 1) * MS;
}

/** What comes with an event, as `data` of it: an object of named values, or one value. */
export function dataOf(chart: Chart, element: Element, scope: Scope): Json | undefined {
  const [content] = childrenOf(element, "content");
  if (content !== undefined) {
    if (content.children.length > 0) throw new NotConverted("data that are files or XML");
    const { expr } = content.attributes;
    if (expr !== undefined) return asTemplate(chart, valueOf(expr, scope));
    return (literalOf(content.text) as Json | undefined) ?? content.text.replaceAll(/\s+/g, " ");
  }
  const names = (element.attributes["namelist"] ?? "").split(/\s+/).filter((name) => name !== "");
  const values: JsonObject = {};
  for (const name of names) values[name] = asTemplate(chart, valueOf(name, scope));
  for (const { attributes } of childrenOf(element, "param")) {
    const js = attributes["expr"] ?? attributes["location"] ?? "";
    values[attributes["name"] ?? ""] = asTemplate(chart, valueOf(js, scope));
  }
  return Object.keys(values).length === 0 ? undefined : values;
}
