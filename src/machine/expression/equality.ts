import type { ASTNode } from "@marcbachmann/cel-js";
import type { Run } from "./run.ts";
import { misfit } from "./faults.ts";
import { Duration, isList, isMap, isNumeric, member, Timestamp, TypeName } from "./values.ts";

/** By value and deep; numbers are equal by what they are worth; values of different kinds are not equal. */
export function equal(run: Run, left: unknown, right: unknown): boolean {
  run.spend(1);
  if (typeof left === "string" && typeof right === "string") {
    if (left.length !== right.length) return false;
    run.spendOnText(left.length);
    return left === right;
  }
  if (left === right) return true;
  if (isNumeric(left) && isNumeric(right)) return !(left < right) && !(left > right);
  if (isList(left) && isList(right)) return equalLists(run, left, right);
  if (isMap(left) && isMap(right)) {
    const keys = Object.keys(left);
    const others = Object.keys(right);
    run.spend(keys.length + others.length);
    if (keys.length !== others.length) return false;
    return keys.every((key) => Object.hasOwn(right, key) && equal(run, left[key], right[key]));
  }
  if (left instanceof Timestamp && right instanceof Timestamp) return left.ms === right.ms;
  if (left instanceof Duration && right instanceof Duration) return left.ns === right.ns;
  if (left instanceof TypeName && right instanceof TypeName) return left.name === right.name;
  return false;
}

function equalLists(run: Run, left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  return left.every((item, index) => equal(run, item, right[index]));
}

/** `in`: an element of a list, or a key of an object. */
export function contains(run: Run, node: ASTNode, sought: unknown, owner: unknown): boolean {
  if (isList(owner)) return owner.some((item) => equal(run, sought, item));
  if (isMap(owner)) return typeof sought === "string" && member(owner, sought) !== undefined;
  throw misfit(node, sought, owner);
}
