import { asTemplate, stateOf } from "./chart.ts";
import type { Chart, Json } from "./chart.ts";
import { toCel } from "./cel.ts";
import type { Scope } from "./cel.ts";
import { isBoolean, literalOf, parseJs } from "./javascript.ts";
import type { Node } from "./javascript.ts";
import { NotConverted } from "./not-converted.ts";

/** A `cond`. `In('id')` is a guard of its own; everything without it is one expression. */
export function guardOf(chart: Chart, js: string, scope: Scope): Json {
  const text = (node: Node) => `(${js}\n)`.slice(node["start"] as number, node["end"] as number);
  const convert = (node: Node): Json => {
    const asked = stateAskedFor(node);
    if (asked !== null) {
      const { kind, key } = stateOf(chart, asked);
      // Nobody is ever in a history state, and a definition may not even ask.
      if (kind === "history") return asTemplate(chart, { cel: "false", js: "false" });
      return { type: "xstate.stateIn", params: { stateId: `#${key}` } };
    }
    const known = literalOf(text(node));
    if (known !== undefined) {
      return asTemplate(chart, { cel: String(Boolean(known)), js: String(Boolean(known)) });
    }
    if (isBoolean(node)) {
      return asTemplate(chart, { cel: toCel(node, scope), js: text(node) });
    }
    const { operator, argument, left, right } = node as unknown as Record<string, Node> & {
      operator: string;
    };
    if (node.type === "UnaryExpression" && operator === "!" && argument !== undefined) {
      return { type: "xstate.not", params: { guard: convert(argument) } };
    }
    if (node.type === "LogicalExpression" && left !== undefined && right !== undefined) {
      const type = operator === "&&" ? "xstate.and" : "xstate.or";
      return { type, params: { guards: [convert(left), convert(right)] } };
    }
    throw new NotConverted("conditions that are neither true nor false");
  };
  return convert(parseJs(js));
}

/** The id in `In('id')`. */
export function stateAskedFor(node: Node): string | null {
  if (node.type !== "CallExpression") return null;
  const [id] = node["arguments"] as Node[];
  if ((node["callee"] as Node)["name"] !== "In" || typeof id?.["value"] !== "string") return null;
  return id["value"];
}
