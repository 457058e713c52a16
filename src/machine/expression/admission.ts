import type { ASTNode } from "@marcbachmann/cel-js";
import { LIMITS } from "../../base/limits.ts";
import { annotations, children, isLoop } from "./annotations.ts";
import { Refusal } from "./faults.ts";
import { FUNCTIONS, METHODS, unavailable } from "./functions.ts";
import { TIMESTAMP_PARTS } from "./time.ts";
import { adaptCheck } from "./typing.ts";

/** Refuses what no expression may have, and readies the rest for the type check. */
export function admit(node: ASTNode, depth = 1, loops = 0): void {
  if (depth > LIMITS.expressionDepth) throw tooDeep();
  adaptCheck(node);
  if (node.op === "call" || node.op === "rcall") refuseUnavailable(node);
  if (node.op !== "rcall" || !isLoop(node)) {
    for (const child of children(node)) admit(child, depth + 1, loops);
    return;
  }
  if (loops === LIMITS.expressionMacroDepth) throw tooManyLoops();
  const [, range, [, ...body]] = node.args;
  admit(range, depth + 1, loops);
  for (const part of body) admit(part, depth + 1, loops + 1);
}

export function tooDeep(): Refusal {
  return new Refusal(`is nested more than ${LIMITS.expressionDepth} levels deep`);
}

function tooManyLoops(): Refusal {
  const most = LIMITS.expressionMacroDepth;
  return new Refusal(`has map(), filter(), all() or exists() nested more than ${most} deep`);
}

function refuseUnavailable(node: Extract<ASTNode, { op: "call" | "rcall" }>): void {
  const { macro, alternate } = annotations(node).meta;
  if (macro || alternate) return;
  const name = node.args[0];
  if (!(node.op === "call" ? FUNCTIONS : METHODS).has(name)) throw unavailable(name);
  if (node.op === "rcall" && Object.hasOwn(TIMESTAMP_PARTS, name) && node.args[2].length > 0) {
    throw new Refusal(`asks ${name}() for a time zone; there is only UTC`);
  }
}
