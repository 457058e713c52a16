import type { ASTNode } from "@marcbachmann/cel-js";
import { annotations, children } from "./annotations.ts";
import type { Check, Checker, StaticType } from "./annotations.ts";
import { Refusal } from "./faults.ts";

const CONTAINERS = new Set(["list", "map", "optional"]);
const NUMBERS = new Set(["int", "uint", "double"]);
const isDyn = (type: StaticType) => type.kind === "dyn";
const isNumber = (type: StaticType) => NUMBERS.has(type.type);

/**
 * Fits the library's type check of one node to JSON: ints and doubles mix, and numbers, null and
 * objects of different shapes may stand in one place.
 */
export function adaptCheck(node: ASTNode): void {
  const { meta } = annotations(node);
  annotations(node).setMeta("check", simplified(CHECKS[node.op]?.(meta.check) ?? meta.check));
  if (node.op === "call" && node.args[0] === "has" && meta.macro) {
    annotations(node).setMeta("macro", { args: node.args[1], typeCheck: checkHas });
  }
  if (meta.alternate) {
    const loop = annotations(meta.alternate);
    loop.setMeta("check", simplified(loop.meta.check));
  }
}

/**
 * Containers in containers become containers of anything: JSON seldom has one shape, and the
 * library keeps every type that it ever met, so nested ones would fill its memory for good.
 */
function simplified(check: Check): Check {
  return (checker, node, names) => {
    const type = check(checker, node, names);
    if (!type.valueType || !CONTAINERS.has(type.kind)) return type;
    return CONTAINERS.has(type.valueType.kind) ? checker.getType(type.kind) : type;
  };
}

/** Whether values of both types can meaningfully stand in one place. */
function related(left: StaticType, right: StaticType): boolean {
  if (left === right || isDyn(left) || isDyn(right)) return true;
  if (left.type === "null" || right.type === "null") return true;
  if (isNumber(left) && isNumber(right)) return true;
  return left.kind === right.kind && CONTAINERS.has(left.kind);
}

const checkArithmetic =
  (original: Check): Check =>
  (checker, node, names) => {
    const [left, right] = operands(checker, node, names);
    const numbers = [left, right].filter(isNumber).length;
    if (numbers === 2) {
      return checker.getType(left.type === "double" || right.type === "double" ? "double" : "int");
    }
    if (numbers === 1 && (isDyn(left) || isDyn(right))) return checker.getType("dyn");
    if (node.op === "+" && left.kind === "list" && right.kind === "list") {
      return left === right ? left : checker.getType("list");
    }
    return original(checker, node, names);
  };

const checkEquality = (): Check => (checker, node, names) => {
  const [left, right] = operands(checker, node, names);
  if (related(left, right)) return checker.getType("bool");
  throw unrelated(checker, node, left, right);
};

const checkMembership = (): Check => (checker, node, names) => {
  const [sought, owner] = operands(checker, node, names);
  const element = owner.kind === "map" ? checker.getType("string") : owner.valueType;
  const fits = owner.kind === "list" || owner.kind === "map" ? element : undefined;
  if (isDyn(owner) || (fits && (fits.kind === "param" || related(sought, fits)))) {
    return checker.getType("bool");
  }
  throw unrelated(checker, node, sought, owner);
};

const checkChoice =
  (original: Check): Check =>
  (checker, node, names) => {
    if (node.op !== "?:") return original(checker, node, names);
    const [condition, left, right] = node.args.map((part) => checker.check(part, names));
    if (!condition || !left || !right || !(isDyn(condition) || condition.type === "bool")) {
      return original(checker, node, names);
    }
    if (left.unify(checker.registry, right) || !related(left, right)) {
      return original(checker, node, names);
    }
    if (isNumber(left) && isNumber(right)) return checker.getType("double");
    return checker.getType(left.kind === right.kind && left.valueType ? left.kind : "dyn");
  };

const checkList =
  (original: Check): Check =>
  (checker, node, names) => {
    const type = original(checker, node, names);
    const items = children(node).map((item) => checker.check(item, names));
    const mixed = type.valueType?.kind === "dyn" && items.every(isNumber);
    return mixed ? checker.getType("list<double>") : type;
  };

const checkObject =
  (original: Check): Check =>
  (checker, node, names) => {
    const type = original(checker, node, names);
    for (const [key] of node.op === "map" ? node.args : []) {
      const keyType = checker.check(key, names);
      if (keyType.type === "string" || isDyn(keyType)) continue;
      throw checker.createError("object_key", "The keys of an object must be strings", key);
    }
    return type;
  };

/** The library lets any argument pass when the receiver's type is open. */
const checkMethod =
  (original: Check): Check =>
  (checker, node, names) => {
    const type = original(checker, node, names);
    const { argTypes, candidates } = annotations(node);
    if (node.op !== "rcall" || !argTypes) return type;
    const receiver = checker.check(node.args[1], names);
    if (candidates?.findFunction(argTypes, receiver)) return type;
    const given = argTypes.map((argument) => checker.formatType(argument)).join(", ");
    throw checker.createError("overload", `${node.args[0]}() does not take (${given})`, node);
  };

const CHECKS: { readonly [op: string]: (original: Check) => Check } = {
  "+": checkArithmetic,
  "-": checkArithmetic,
  "*": checkArithmetic,
  "/": checkArithmetic,
  "%": checkArithmetic,
  "==": checkEquality,
  "!=": checkEquality,
  in: checkMembership,
  "?:": checkChoice,
  list: checkList,
  map: checkObject,
  rcall: checkMethod,
};

function operands(checker: Checker, node: ASTNode, names: unknown): [StaticType, StaticType] {
  const [left, right] = children(node);
  if (!left || !right) throw new Error(`The operator ${node.op} lacks an operand.`);
  return [checker.check(left, names), checker.check(right, names)];
}

function unrelated(checker: Checker, node: ASTNode, left: StaticType, right: StaticType): Error {
  const types = `'${checker.formatType(left)}' and '${checker.formatType(right)}'`;
  return checker.createError("unrelated_types", `${node.op} can never hold between ${types}`, node);
}

function checkHas(
  checker: Checker,
  macro: { readonly args: readonly ASTNode[] },
  names: unknown,
): StaticType {
  const [field] = macro.args;
  if (field?.op !== ".") {
    throw new Refusal("uses has() without a field; write it as has(context.field)");
  }
  checker.check(field.args[0], names);
  return checker.getType("bool");
}
