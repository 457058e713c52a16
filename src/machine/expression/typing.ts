import type { ASTNode } from "@marcbachmann/cel-js";
import { LIMITS } from "../../base/limits.ts";
import { Refusal } from "./faults.ts";

/** What the library's checker knows of a type. Its published declarations leave the checker out. */
export interface StaticType {
  readonly kind: string;
  readonly type: string;
  readonly valueType?: StaticType;
  readonly keyType?: StaticType;
  unify(registry: unknown, other: StaticType): StaticType | null;
}

interface Checker {
  readonly registry: unknown;
  check(node: ASTNode, names: unknown): StaticType;
  getType(name: string): StaticType;
  formatType(type: StaticType): string;
  createError(code: string, message: string, node: ASTNode): Error;
}

type Check = (checker: Checker, node: ASTNode, names: unknown) => StaticType;

interface Annotated {
  readonly meta: {
    readonly check: Check;
    /** What a macro with a loop, or the name of a constant, stands for. */
    readonly alternate?: ASTNode;
    /** A macro that checks itself: has(), cel.bind(), or(), orValue(). */
    readonly macro?: object;
  };
  readonly checkedType?: StaticType;
  readonly argTypes?: readonly StaticType[];
  readonly candidates?: {
    findFunction(argTypes: readonly StaticType[], receiver: StaticType): unknown;
  };
  setMeta(key: string, value: unknown): void;
}

export function annotations(node: ASTNode): Annotated {
  return node as unknown as Annotated;
}

/** The macros that loop. */
const LOOPS = new Set(["map", "filter", "all", "exists", "exists_one"]);

export function isLoop(node: Extract<ASTNode, { op: "rcall" }>): boolean {
  return LOOPS.has(node.args[0]) && annotations(node).meta.alternate !== undefined;
}

/**
 * Fits the library's type checker to JSON before it runs: ints and doubles mix, numbers, null and
 * objects of different shapes may stand in one place, has() takes any owner. Also bounds depth.
 */
export function adaptChecks(node: ASTNode, depth = 1, loops = 0): void {
  if (depth > LIMITS.expressionDepth) {
    throw new Refusal(`is nested more than ${LIMITS.expressionDepth} levels deep`);
  }
  const { meta } = annotations(node);
  annotations(node).setMeta("check", simplified(CHECKS[node.op]?.(meta.check) ?? meta.check));
  if (node.op === "call" && node.args[0] === "has" && meta.macro) {
    annotations(node).setMeta("macro", { args: node.args[1], typeCheck: checkHas });
  }
  if (node.op === "rcall" && isLoop(node)) {
    if (loops === LIMITS.expressionMacroDepth) throw tooManyLoops();
    const loop = annotations(meta.alternate as ASTNode);
    loop.setMeta("check", simplified(loop.meta.check));
    adaptChecks(node.args[1], depth + 1, loops);
    for (const inner of node.args[2].slice(1)) adaptChecks(inner, depth + 1, loops + 1);
    return;
  }
  for (const child of children(node)) adaptChecks(child, depth + 1, loops);
}

function tooManyLoops(): Refusal {
  const most = LIMITS.expressionMacroDepth;
  return new Refusal(`has map(), filter(), all() or exists() nested more than ${most} deep`);
}

function children(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

const CONTAINERS = new Set(["list", "map", "optional"]);
const NUMBERS = new Set(["int", "uint", "double"]);
const isDyn = (type: StaticType) => type.kind === "dyn";
const isNumber = (type: StaticType) => NUMBERS.has(type.type);

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
    const left = checker.check(node.args[1], names);
    const right = checker.check(node.args[2], names);
    if (left.unify(checker.registry, right) || !related(left, right)) {
      return original(checker, node, names);
    }
    checker.check(node.args[0], names);
    return checker.getType(left.kind === right.kind && left.valueType ? left.kind : "dyn");
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
