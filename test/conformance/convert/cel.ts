import { isBoolean, nameOf, parseJs } from "./javascript.ts";
import type { Node } from "./javascript.ts";
import { NotConverted } from "./not-converted.ts";

/** One expression of a chart in two languages: as the definition has it, and as the chart wrote it. */
export interface Expression {
  cel: string;
  js: string;
}

export interface Scope {
  /** Ids of the chart's data. */
  data: ReadonlySet<string>;
  /** Where the event is XState's own about the end of a state, what came with it is called otherwise. */
  eventData: "data" | "output";
}

const NO_WORD = "JavaScript that CEL has no word for";

const BINARY: Record<string, string> = {
  "==": "==",
  "===": "==",
  "!=": "!=",
  "!==": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  "+": "+",
  "-": "-",
  "*": "*",
  "/": "/",
  "%": "%",
};
const UNARY = new Set(["!", "-"]);

/** A value of the chart. */
export function valueOf(js: string, scope: Scope): Expression {
  return { cel: toCel(parseJs(js), scope), js };
}

export function toCel(node: Node, scope: Scope): string {
  const at = (key: string) => toCel(node[key] as Node, scope);
  switch (node.type) {
    case "Literal":
      return literalCel(node["value"]);
    case "Identifier":
      return nameCel(node["name"] as string, scope);
    case "ParenthesizedExpression":
      return at("expression");
    case "UnaryExpression":
      if (!UNARY.has(node["operator"] as string)) break;
      return `${node["operator"] as string}(${at("argument")})`;
    case "BinaryExpression":
      return binaryCel(node, scope);
    case "LogicalExpression":
      if (!isBoolean(node)) break;
      return `(${at("left")} ${node["operator"] as string} ${at("right")})`;
    case "MemberExpression":
      return memberCel(node, scope);
    case "ArrayExpression":
      return `[${(node["elements"] as Node[]).map((element) => toCel(element, scope)).join(", ")}]`;
    case "CallExpression":
      return callCel(node, scope);
    default:
  }
  throw new NotConverted(NO_WORD);
}

function literalCel(value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return JSON.stringify(value);
  if (value === null) return "null";
  throw new NotConverted(NO_WORD);
}

function nameCel(name: string, { data }: Scope): string {
  if (data.has(name)) return `context.${name}`;
  if (name === "undefined") return "null";
  if (name.startsWith("_")) throw new NotConverted("system variables");
  throw new NotConverted("names that no data has");
}

function binaryCel(node: Node, scope: Scope): string {
  const operator = BINARY[node["operator"] as string];
  const { left, right } = node as unknown as { left: Node; right: Node };
  if (left.type === "UnaryExpression" && left["operator"] === "typeof") {
    return typeofCel(node, left["argument"] as Node, right, scope);
  }
  if (operator === undefined) throw new NotConverted(NO_WORD);
  return `(${toCel(left, scope)} ${operator} ${toCel(right, scope)})`;
}

/** `typeof x === "undefined"` asks whether x is there at all. */
function typeofCel(node: Node, argument: Node, right: Node, scope: Scope): string {
  const there = toCel(argument, scope);
  const operator = BINARY[node["operator"] as string];
  if (right["value"] !== "undefined" || argument.type !== "MemberExpression")
    throw new NotConverted(NO_WORD);
  if (operator === "==") return `!has(${there})`;
  if (operator === "!=") return `has(${there})`;
  throw new NotConverted(NO_WORD);
}

function memberCel(node: Node, scope: Scope): string {
  const object = node["object"] as Node;
  const property = node["property"] as Node;
  const key = node["computed"] === true ? property["value"] : property["name"];
  if (object.type === "Identifier" && object["name"] === "_event") {
    if (key === "name") return "event.type";
    if (key === "data") return `event.${scope.eventData}`;
    throw new NotConverted("system variables");
  }
  const from = toCel(object, scope);
  if (key === "length") return `size(${from})`;
  if (typeof key === "string") return `${from}[${JSON.stringify(key)}]`;
  if (node["computed"] === true) return `${from}[${toCel(property, scope)}]`;
  throw new NotConverted(NO_WORD);
}

/** `Math.pow` with a small whole exponent is a product. */
function callCel(node: Node, scope: Scope): string {
  const callee = node["callee"] as Node;
  const [base, exponent] = node["arguments"] as Node[];
  const isPow =
    callee.type === "MemberExpression" &&
    nameOf(callee["object"] as Node) === "Math" &&
    nameOf(callee["property"] as Node) === "pow";
  const times = Number(exponent?.["value"]);
  if (isPow && base !== undefined && [1, 2, 3, 4].includes(times)) {
    return `(${Array.from({ length: times }, () => toCel(base, scope)).join(" * ")})`;
  }
  throw new NotConverted(NO_WORD);
}
