import type { ASTNode } from "@marcbachmann/cel-js";
import { annotations, isLoop } from "./annotations.ts";
import * as codes from "./codes.ts";
import { hasField } from "./access.ts";
import { misfit, Refusal } from "./faults.ts";
import { FUNCTIONS, METHODS, unavailable } from "./functions.ts";
import { isDataName } from "./language.ts";
import { collect, exactlyOne, quantified } from "./loops.ts";
import type { Loop } from "./loops.ts";
import type { Code } from "./run.ts";
import type { Implementation } from "./text.ts";
import { Optional } from "./values.ts";

export interface Program {
  readonly code: Code;
  readonly usesNow: boolean;
  readonly usesRandom: boolean;
}

type Name = Extract<ASTNode, { op: "id" }>;
type Call = Extract<ASTNode, { op: "call" }>;
type Method = Extract<ASTNode, { op: "rcall" }>;
/** Variables in scope, with their slots in Run.locals. */
type Scope = ReadonlyMap<string, number>;

/** Turns a checked expression into functions that call one another. */
export function compileProgram(root: ASTNode): Program {
  const compiler = new Compiler();
  const code = compiler.compile(root, new Map());
  return { code, usesNow: compiler.usesNow, usesRandom: compiler.usesRandom };
}

class Compiler {
  usesNow = false;
  usesRandom = false;
  #slots = 0;

  compile(node: ASTNode, scope: Scope): Code {
    switch (node.op) {
      case "value":
        return codes.constant(node);
      case "id":
        return this.#name(node, scope);
      case ".":
      case ".?":
        return codes.field(node, this.compile(node.args[0], scope));
      case "call":
        return this.#call(node, scope);
      case "rcall":
        return this.#method(node, scope);
      case "list":
        return codes.list(node.args.map((item) => this.compile(item, scope)));
      case "map":
        return codes.object(
          node.args.map(([key, value]) => ({
            node: key,
            key: this.compile(key, scope),
            value: this.compile(value, scope),
          })),
        );
      case "?:": {
        const [condition, left, right] = node.args;
        return codes.choice(
          node,
          this.compile(condition, scope),
          this.compile(left, scope),
          this.compile(right, scope),
        );
      }
      case "!_":
        return codes.not(node, this.compile(node.args, scope));
      case "-_":
        return codes.negated(node, this.compile(node.args, scope));
      case "||":
      case "&&":
        return codes.logic(
          node,
          this.compile(node.args[0], scope),
          this.compile(node.args[1], scope),
        );
      default:
        return codes.binary(
          node,
          this.compile(node.args[0], scope),
          this.compile(node.args[1], scope),
        );
    }
  }

  #name(node: Name, scope: Scope): Code {
    const name = node.args;
    const slot = scope.get(name);
    if (slot !== undefined) return (run) => run.locals[slot];
    if (isDataName(name)) return (run) => run.scope[name] ?? null;
    const constant = annotations(node).meta.alternate;
    if (constant) return this.compile(constant, scope);
    this.usesNow = true;
    return (run) => run.scope.now;
  }

  #call(node: Call, scope: Scope): Code {
    const [name, args] = node.args;
    if (name === "has") return this.#has(args, scope);
    const implementation = FUNCTIONS.get(name);
    if (!implementation) throw unavailable(name);
    if (name === "random" || name === "uuid") this.usesRandom = true;
    return applied(node, implementation, this.#all(args, scope));
  }

  #has(args: readonly ASTNode[], scope: Scope): Code {
    const [field] = args;
    if (field?.op !== ".") throw new Refusal("uses has() without a field");
    const owner = this.compile(field.args[0], scope);
    const name = field.args[1];
    return (run) => {
      run.spend(1);
      return hasField(owner(run), name);
    };
  }

  #method(node: Method, scope: Scope): Code {
    const [name, receiver, args] = node.args;
    if (isLoop(node)) return this.#loop(node, scope);
    if (annotations(node).meta.macro) {
      return name === "bind" ? this.#bind(node, scope) : this.#orElse(node, scope);
    }
    const implementation = METHODS.get(name);
    if (!implementation) throw unavailable(name);
    return applied(node, implementation, this.#all([receiver, ...args], scope));
  }

  #all(nodes: readonly ASTNode[], scope: Scope): Code[] {
    return nodes.map((node) => this.compile(node, scope));
  }

  /** A slot for the variable that a macro names, and the scope with it. */
  #declare(variable: ASTNode | undefined, scope: Scope): { slot: number; inner: Scope } {
    if (variable?.op !== "id") throw new Refusal("has a macro whose first argument is no name");
    const slot = this.#slots++;
    return { slot, inner: new Map([...scope, [variable.args, slot]]) };
  }

  #loop(node: Method, scope: Scope): Code {
    const [name, receiver, [variable, second, third]] = node.args;
    const { slot, inner } = this.#declare(variable, scope);
    const range = this.compile(receiver, scope);
    const step = (part: ASTNode | undefined) => (part ? this.compile(part, inner) : undefined);
    const [predicateNode, transformNode] =
      name === "map" ? (third ? [second, third] : [undefined, second]) : [second, undefined];
    const predicateCode = step(predicateNode);
    const transform = step(transformNode);
    const loop: Loop = {
      node,
      range,
      slot,
      ...(predicateNode && predicateCode
        ? { predicate: { node: predicateNode, code: predicateCode } }
        : {}),
      ...(transform ? { transform } : {}),
    };
    if (name === "all") return quantified(loop, false);
    if (name === "exists") return quantified(loop, true);
    return name === "exists_one" ? exactlyOne(loop) : collect(loop);
  }

  /** cel.bind(name, value, expression). */
  #bind(node: Method, scope: Scope): Code {
    const [, receiver, [variable, bound, body]] = node.args;
    if (receiver.op !== "id" || receiver.args !== "cel" || !bound || !body) {
      throw new Refusal("uses bind() otherwise than as cel.bind(name, value, expression)");
    }
    const value = this.compile(bound, scope);
    const { slot, inner } = this.#declare(variable, scope);
    const code = this.compile(body, inner);
    return (run) => {
      run.spend(1);
      run.locals[slot] = value(run);
      return code(run);
    };
  }

  /** or() and orValue(): the argument is evaluated only when it is needed. */
  #orElse(node: Method, scope: Scope): Code {
    const [name, receiver, [other]] = node.args;
    if (!other) throw unavailable(name);
    const code = this.compile(receiver, scope);
    const fallback = this.compile(other, scope);
    return (run) => {
      run.spend(1);
      const optional = code(run);
      if (!(optional instanceof Optional)) throw misfit(node, optional);
      if (optional.value === undefined) return fallback(run);
      return name === "or" ? optional : optional.value;
    };
  }
}

function applied(node: Call | Method, implementation: Implementation, args: Code[]): Code {
  return (run) => {
    run.spend(1);
    const values = args.map((argument) => argument(run));
    const result = implementation(run, node, values);
    if (result === undefined) throw misfit(node, ...values);
    return result;
  };
}
