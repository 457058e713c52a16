import type { ASTNode } from "@marcbachmann/cel-js";

/** What the library's checker knows of a type. Its published declarations leave the checker out. */
export interface StaticType {
  readonly kind: string;
  readonly type: string;
  readonly valueType?: StaticType;
  readonly keyType?: StaticType;
  unify(registry: unknown, other: StaticType): StaticType | null;
}

export interface Checker {
  readonly registry: unknown;
  check(node: ASTNode, names: unknown): StaticType;
  getType(name: string): StaticType;
  formatType(type: StaticType): string;
  createError(code: string, message: string, node: ASTNode): Error;
}

export type Check = (checker: Checker, node: ASTNode, names: unknown) => StaticType;

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

export function children(node: ASTNode): readonly ASTNode[] {
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
