import { Environment } from "@marcbachmann/cel-js";
import type { ASTNode } from "@marcbachmann/cel-js";
import { LIMITS } from "../../base/limits.ts";
import { admit, tooDeep } from "./admission.ts";
import { annotations } from "./annotations.ts";
import { Refusal, shorten } from "./faults.ts";
import { inPlainWords, meantBy } from "./syntax-advice.ts";

/** Names that an expression sees beside `now`. */
const DATA_NAMES = ["context", "event", "input", "params", "self"] as const;

/** Declared for the checker only: a program calls ours. */
function declared(): never {
  throw new Error("Expressions are run by their program, not by the library.");
}

/** A new one for each expression: it remembers every function name that it was ever asked for. */
function newEnvironment(): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxDepth: LIMITS.expressionDepth },
  });
  for (const name of DATA_NAMES) environment.registerVariable(name, "dyn");
  return environment
    .registerVariable("now", "double")
    .registerFunction("random(): double", declared)
    .registerFunction("uuid(): string", declared)
    .registerFunction("timestamp(double): google.protobuf.Timestamp", declared)
    .registerFunction("int(google.protobuf.Timestamp): int", declared)
    .registerFunction("string(google.protobuf.Timestamp): string", declared)
    .registerFunction("string(google.protobuf.Duration): string", declared);
}

/** Parses and checks the types; throws a Refusal that says what is wrong. */
export function understand(source: string): ASTNode {
  try {
    const parsed = newEnvironment().parse(source);
    admit(parsed.ast);
    const checked = parsed.check();
    if (checked.error) throw checked.error;
    refuseNonJson(parsed.ast);
    return parsed.ast;
  } catch (error) {
    throw error instanceof Refusal ? error : explain(error, source);
  }
}

export type ResultType = "any" | "null" | "boolean" | "number" | "string" | "list" | "object";

/** By the checker's names; what is not here depends on data. A timestamp comes out as text, a duration as ms. */
const RESULT_TYPES: Record<string, ResultType> = {
  null: "null",
  bool: "boolean",
  int: "number",
  uint: "number",
  double: "number",
  string: "string",
  list: "list",
  map: "object",
  "google.protobuf.Timestamp": "string",
  "google.protobuf.Duration": "number",
};

/** What a checked expression gives, as JSON. */
export function resultType(root: ASTNode): ResultType {
  return RESULT_TYPES[annotations(root).checkedType?.type ?? ""] ?? "any";
}

const NO_JSON: Record<string, string> = {
  optional: "gives an optional; end it with .orValue(…)",
  type: "gives a type, which JSON cannot hold; compare it with ==",
  bytes: "gives bytes, which JSON cannot hold",
};

export function isDataName(name: string): name is (typeof DATA_NAMES)[number] {
  return (DATA_NAMES as readonly string[]).includes(name);
}

function refuseNonJson(root: ASTNode): void {
  const { checkedType } = annotations(root);
  const complaint = NO_JSON[checkedType?.type ?? ""];
  if (complaint) throw new Refusal(complaint);
}

interface LibraryError {
  code?: string;
  summary?: string;
  range?: { start: number };
}

const NO_UNDEFINED = "; write null, or test for it with has(…)";
const SYNTAX_CODES = new Set(["unexpected_character", "unexpected_token", "expected_token"]);

function explain(error: unknown, source: string): Refusal {
  const { code, summary, range } = error as LibraryError;
  if (summary === undefined) return new Refusal("cannot be understood");
  if (code === "limit_exceeded" && summary.includes("maxDepth")) return tooDeep();
  const place = range ? ` (at character ${range.start + 1})` : "";
  const isUndefined = code === "unknown_variable" && summary.endsWith(": undefined");
  const hint = isUndefined ? NO_UNDEFINED : (HINTS[code ?? ""] ?? "");
  const isSyntax = SYNTAX_CODES.has(code ?? "");
  const meant =
    isSyntax && range ? meantBy(source, range.start, code !== "unexpected_character") : null;
  const what = meant ?? (isSyntax ? inPlainWords(summary) : summary);
  return new Refusal(`is not valid: ${shorten(what, 200)}${place}${hint}`);
}

const HINTS: Record<string, string> = {
  unknown_variable: `; there are ${DATA_NAMES.join(", ")} and now`,
  incompatible_ternary_branches: "; wrap one branch in dyn(…) if both are meant",
};
