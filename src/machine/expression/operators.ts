import type { ASTNode } from "@marcbachmann/cel-js";
import type { Run } from "./run.ts";
import { fault, misfit } from "./faults.ts";
import { moved, spanBetween, spans } from "./time.ts";
import { Duration, isList, isNumeric, Timestamp } from "./values.ts";

type Numeric = number | bigint;

const MOST_INT = 2n ** 63n - 1n;
const LEAST_INT = -(2n ** 63n);

export function plus(run: Run, node: ASTNode, left: unknown, right: unknown): unknown {
  if (isNumeric(left) && isNumeric(right)) return calculate(node, left, right);
  if (typeof left === "string" && typeof right === "string") {
    run.spendOnText(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    run.spend((left.length + right.length) >> 3);
    return left.concat(right);
  }
  if (left instanceof Duration && right instanceof Duration) return spans(node, left.ns + right.ns);
  if (left instanceof Timestamp && right instanceof Duration) return moved(node, left, right.ns);
  if (left instanceof Duration && right instanceof Timestamp) return moved(node, right, left.ns);
  throw misfit(node, left, right);
}

export function minus(node: ASTNode, left: unknown, right: unknown): unknown {
  if (isNumeric(left) && isNumeric(right)) return calculate(node, left, right);
  if (left instanceof Duration && right instanceof Duration) return spans(node, left.ns - right.ns);
  if (left instanceof Timestamp && right instanceof Duration) return moved(node, left, -right.ns);
  if (left instanceof Timestamp && right instanceof Timestamp) return spanBetween(right, left);
  throw misfit(node, left, right);
}

/** `*`, `/` and `%`. */
export function multiplicative(node: ASTNode, left: unknown, right: unknown): unknown {
  if (isNumeric(left) && isNumeric(right)) return calculate(node, left, right);
  throw misfit(node, left, right);
}

export function negate(node: ASTNode, value: unknown): unknown {
  if (typeof value === "number") return -value;
  if (typeof value === "bigint") return integer(node, -value);
  throw misfit(node, value);
}

/** Two ints stay an int, as CEL has it; with a double in it, the result is a double. */
function calculate(node: ASTNode, left: Numeric, right: Numeric): Numeric {
  if ((node.op === "/" || node.op === "%") && Number(right) === 0) {
    throw fault(node, "divides by zero");
  }
  if (typeof left === "bigint" && typeof right === "bigint") {
    return integer(node, calculateInts(node, left, right));
  }
  const result = calculateDoubles(node, Number(left), Number(right));
  if (!Number.isFinite(result)) throw fault(node, "is too large for a number");
  return result;
}

function calculateInts(node: ASTNode, left: bigint, right: bigint): bigint {
  if (node.op === "+") return left + right;
  if (node.op === "-") return left - right;
  if (node.op === "*") return left * right;
  return node.op === "/" ? left / right : left % right;
}

function calculateDoubles(node: ASTNode, left: number, right: number): number {
  if (node.op === "+") return left + right;
  if (node.op === "-") return left - right;
  if (node.op === "*") return left * right;
  return node.op === "/" ? left / right : left % right;
}

/** CEL's ints have 64 bits. */
export function integer(node: ASTNode, value: bigint): bigint {
  if (value > MOST_INT || value < LEAST_INT) throw fault(node, "is too large for an integer");
  return value;
}

/** `<`, `<=`, `>` and `>=`, between two numbers, strings, booleans, timestamps or durations. */
export function ordered(run: Run, node: ASTNode, left: unknown, right: unknown): boolean {
  if (isNumeric(left) && isNumeric(right)) return inOrder(node, left, right);
  if (typeof left === "string" && typeof right === "string") {
    run.spendOnText(Math.min(left.length, right.length));
    return inOrder(node, left, right);
  }
  if (typeof left === "boolean" && typeof right === "boolean") return inOrder(node, left, right);
  if (left instanceof Timestamp && right instanceof Timestamp) {
    return inOrder(node, left.ms, right.ms);
  }
  if (left instanceof Duration && right instanceof Duration) {
    return inOrder(node, left.ns, right.ns);
  }
  throw misfit(node, left, right);
}

function inOrder<T extends Numeric | string | boolean>(node: ASTNode, left: T, right: T): boolean {
  if (node.op === "<") return left < right;
  if (node.op === "<=") return left <= right;
  return node.op === ">" ? left > right : left >= right;
}
