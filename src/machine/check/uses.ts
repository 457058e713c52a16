import type { ResultType } from "../expression.ts";
import type { ErrorCode } from "./codes.ts";
import type { Check } from "./context.ts";

/** What the result of an expression is taken for; as a value any JSON will do. */
export type Use = "value" | "guard" | "delay" | "text" | "ref" | "context";

interface Demand {
  readonly types: readonly ResultType[];
  readonly code: ErrorCode;
  /** Begins the sentence that goes on "…, but this gives a number". */
  readonly must: string;
}

const DEMANDS: Record<Exclude<Use, "value">, Demand> = {
  guard: { types: ["boolean"], code: "invalid_guard", must: "A guard must give true or false" },
  delay: { types: ["number"], code: "invalid_delay", must: "A delay must give a number of ms" },
  text: { types: ["string"], code: "invalid_value", must: "This must give a string" },
  ref: {
    types: ["string", "null"],
    code: "invalid_value",
    must: "The value of a reference must be a string, or null to remove it",
  },
  context: {
    types: ["object"],
    code: "invalid_value",
    must: "The context must be an object",
  },
};

const NOUNS: Record<Exclude<ResultType, "any">, string> = {
  null: "null",
  boolean: "a boolean",
  number: "a number",
  string: "a string",
  list: "a list",
  object: "an object",
};

/** Reports a result that can never be what its place needs. What depends on data is told when it runs. */
export function checkUse(
  check: Check,
  source: string,
  type: ResultType,
  use: Use,
  pointer: string,
): void {
  if (use === "value" || type === "any") return;
  const { types, code, must } = DEMANDS[use];
  if (types.includes(type)) return;
  check.errors.add(
    pointer,
    code,
    () => `${must}, but this gives ${NOUNS[type]}: ${remedy(use, type, source)}.`,
  );
}

function remedy(use: Exclude<Use, "value">, type: ResultType, source: string): string {
  const operand =
    /^[A-Za-z_][\w.]*(?:\([\w.]*\))?$/.test(source) && source.length <= 80 ? source : "context.n";
  switch (use) {
    case "guard":
      if (type === "string") return 'compare it, as in `context.kind == "large"`';
      if (type === "number") return `compare it, as in \`${operand} > 0\``;
      return "compare something, as in `size(context.items) > 0`";
    case "delay":
      return 'write the number itself, or duration("48h")';
    case "context":
      return 'write its values by their keys: {"n": {"@expr": "input.n"}}';
    default:
      return type === "number" ? `convert it: string(${operand})` : "name one that does";
  }
}
