import { parseAst } from "vite";
import { NotConverted } from "./not-converted.ts";

/** The part of ESTree that charts use; whatever else comes is refused by its type. */
export interface Node {
  type: string;
  [key: string]: unknown;
}

const COMPARISONS = new Set(["==", "===", "!=", "!==", "<", "<=", ">", ">="]);

/** The statements of a program. */
export function parseProgram(js: string): Node[] {
  try {
    return (parseAst(js) as unknown as { body: Node[] }).body;
  } catch {
    throw new NotConverted("JavaScript that does not parse");
  }
}

export function parseJs(js: string): Node {
  const [statement] = parseProgram(`(${js}\n)`);
  let node = statement?.["expression"] as Node;
  while (node.type === "ParenthesizedExpression") node = node["expression"] as Node;
  return node;
}

/** What is known before the chart runs: JSON, or undefined when it is not. */
export function literalOf(js: string): unknown {
  try {
    return literal(parseJs(js));
  } catch (error) {
    if (error instanceof NotConverted) return undefined;
    throw error;
  }
}

function literal(node: Node): unknown {
  switch (node.type) {
    case "Literal":
      return node["value"];
    case "UnaryExpression": {
      const value = literal(node["argument"] as Node);
      if (node["operator"] === "-" && typeof value === "number") return -value;
      throw new NotConverted("");
    }
    case "ArrayExpression":
      return (node["elements"] as Node[]).map(literal);
    case "ObjectExpression":
      return Object.fromEntries(
        (node["properties"] as Node[]).map((property) => [
          nameOf(property["key"] as Node),
          literal(property["value"] as Node),
        ]),
      );
    default:
      throw new NotConverted("");
  }
}

/** Whether JavaScript gives true or false here and nothing that only counts as one of them. */
export function isBoolean(node: Node): boolean {
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "boolean";
    case "BinaryExpression":
      return COMPARISONS.has(node["operator"] as string);
    case "UnaryExpression":
      return node["operator"] === "!" && isBoolean(node["argument"] as Node);
    case "LogicalExpression":
      return isBoolean(node["left"] as Node) && isBoolean(node["right"] as Node);
    default:
      return false;
  }
}

export function nameOf(node: Node): string {
  return String(node["name"] ?? node["value"] ?? "");
}
