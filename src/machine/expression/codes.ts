import type { ASTNode } from "@marcbachmann/cel-js";
import { RESERVED_DATA_KEY } from "../../base/json.ts";
import * as access from "./access.ts";
import { contains, equal } from "./equality.ts";
import { excerpt, fault, notBoolean, Refusal } from "./faults.ts";
import * as operators from "./operators.ts";
import { Fault } from "./run.ts";
import type { Code } from "./run.ts";
import { TypeName } from "./values.ts";

type Binary = Extract<ASTNode, { args: [ASTNode, ASTNode] }>;
type Choice = Extract<ASTNode, { op: "?:" }>;
type Field = Extract<ASTNode, { op: "." | ".?" }>;

/** A literal, or a constant of the library such as the name of a type. */
export function constant(node: Extract<ASTNode, { op: "value" }>): Code {
  const value: unknown = node.args;
  if (typeof value === "bigint") return integerLiteral(node, value);
  if (typeof value !== "object" || value === null) return () => value;
  if (value instanceof Uint8Array) throw new Refusal("has bytes, which JSON cannot hold");
  if ("value" in value && typeof value.value === "bigint") return integerLiteral(node, value.value);
  if ("name" in value && typeof value.name === "string") {
    const type = new TypeName(value.name);
    return () => type;
  }
  throw new Refusal("uses a name of the language as a value");
}

function integerLiteral(node: ASTNode, value: bigint): Code {
  try {
    const integer = operators.integer(node, value);
    return () => integer;
  } catch (error) {
    throw error instanceof Fault ? new Refusal("has an integer beyond 64 bits") : error;
  }
}

export function field(node: Field, owner: Code): Code {
  const read = node.op === "." ? access.readField : access.readOptionalField;
  return (run) => {
    run.spend(1);
    return read(node, owner(run));
  };
}

export function list(items: readonly Code[]): Code {
  return (run) => {
    run.spend(1 + (items.length >> 3));
    return items.map((item) => item(run));
  };
}

interface Entry {
  readonly node: ASTNode;
  readonly key: Code;
  readonly value: Code;
}

/** Objects made by an expression have no prototype, so that no key means anything but itself. */
export function object(entries: readonly Entry[]): Code {
  refuseKeys(entries);
  return (run) => {
    run.spend(1 + entries.length);
    const made = Object.create(null) as Record<string, unknown>;
    for (const { node, key, value } of entries) {
      const name = key(run);
      if (typeof name !== "string") throw fault(node, "must be a string: it is a key of an object");
      run.spendOnText(name.length);
      if (name in made) throw fault(node, "is the same key twice in one object");
      made[name] = value(run);
    }
    return made;
  };
}

function refuseKeys(entries: readonly Entry[]): void {
  const seen = new Set<unknown>();
  for (const { node } of entries) {
    if (node.op !== "value") continue;
    if (node.args === RESERVED_DATA_KEY) {
      throw new Refusal(`uses the key ${RESERVED_DATA_KEY}, which no data may have`);
    }
    if (seen.has(node.args)) throw new Refusal(`has ${excerpt(node)} twice in one object`);
    seen.add(node.args);
  }
}

export function not(node: Extract<ASTNode, { op: "!_" }>, operand: Code): Code {
  return (run) => {
    run.spend(1);
    const value = operand(run);
    if (typeof value !== "boolean") throw notBoolean(node.args, value);
    return !value;
  };
}

export function negated(node: ASTNode, operand: Code): Code {
  return (run) => {
    run.spend(1);
    return operators.negate(node, operand(run));
  };
}

export function choice(node: Choice, condition: Code, left: Code, right: Code): Code {
  return (run) => {
    run.spend(1);
    const value = condition(run);
    if (typeof value !== "boolean") throw notBoolean(node.args[0], value);
    return value ? left(run) : right(run);
  };
}

/** `||` and `&&`: a side that decides makes up for a fault of the other one, in either order. */
export function logic(node: Binary, left: Code, right: Code): Code {
  const decisive = node.op === "||";
  const [leftNode, rightNode] = node.args;
  return (run) => {
    run.spend(1);
    const first = run.attempt(left);
    if (first === decisive) return first;
    const second = right(run);
    if (second === decisive) return second;
    if (first instanceof Fault) throw first;
    if (typeof first !== "boolean") throw notBoolean(leftNode, first);
    if (typeof second !== "boolean") throw notBoolean(rightNode, second);
    return second;
  };
}

export function binary(node: Binary, left: Code, right: Code): Code {
  switch (node.op) {
    case "==":
      return (run) => equal(run, left(run), right(run));
    case "!=":
      return (run) => !equal(run, left(run), right(run));
    case "in":
      return (run) => {
        run.spend(1);
        return contains(run, node, left(run), right(run));
      };
    case "[]":
    case "[?]": {
      const read = node.op === "[]" ? access.readIndex : access.readOptionalIndex;
      return (run) => {
        run.spend(1);
        return read(node, left(run), right(run));
      };
    }
    case "+":
      return (run) => {
        run.spend(1);
        return operators.plus(run, node, left(run), right(run));
      };
    case "-":
      return (run) => {
        run.spend(1);
        return operators.minus(node, left(run), right(run));
      };
    case "*":
    case "/":
    case "%":
      return (run) => {
        run.spend(1);
        return operators.multiplicative(node, left(run), right(run));
      };
    case "<":
    case "<=":
    case ">":
    case ">=":
      return (run) => {
        run.spend(1);
        return operators.ordered(run, node, left(run), right(run));
      };
    default:
      throw new Error(`The operator ${node.op} has no code.`);
  }
}
