import type { ASTNode } from "@marcbachmann/cel-js";
import { Fault } from "./run.ts";
import type { Code, Run } from "./run.ts";
import { fault, notBoolean } from "./faults.ts";
import { isList, isMap, nounFor } from "./values.ts";

/** The parts of `range.map(variable, …)` and its like. */
export interface Loop {
  readonly node: ASTNode;
  readonly range: Code;
  /** Where the variable lives in Run.locals. */
  readonly slot: number;
  readonly predicate?: { readonly node: ASTNode; readonly code: Code };
  readonly transform?: Code;
}

const STEPS_PER_KEY = 3;

/** The items of a list, or the keys of an object: sorted, since data that went through storage may have another order. */
function itemsOf(run: Run, node: ASTNode, range: unknown): readonly unknown[] {
  if (isList(range)) return range;
  if (!isMap(range)) throw fault(node, `goes through ${nounFor(range)}, not a list or an object`);
  const keys = Object.keys(range);
  run.spend(keys.length * STEPS_PER_KEY);
  return keys.sort();
}

function holds(run: Run, { node, predicate }: Loop): boolean {
  if (!predicate) return true;
  const value = predicate.code(run);
  if (typeof value !== "boolean") throw notBoolean(predicate.node ?? node, value);
  return value;
}

/** map() and filter(): what the transform gives, or the item itself, for items that fit the predicate. */
export function collect(loop: Loop): Code {
  const { node, range, slot, transform } = loop;
  return (run) => {
    const collected: unknown[] = [];
    for (const item of itemsOf(run, node, range(run))) {
      run.spend(1);
      run.locals[slot] = item;
      if (holds(run, loop)) collected.push(transform ? transform(run) : item);
    }
    return collected;
  };
}

/** exists_one(). */
export function exactlyOne(loop: Loop): Code {
  const { node, range, slot } = loop;
  return (run) => {
    let found = 0;
    for (const item of itemsOf(run, node, range(run))) {
      run.spend(1);
      run.locals[slot] = item;
      if (holds(run, loop)) found++;
    }
    return found === 1;
  };
}

/** all() ends at the first false, exists() at the first true; a fault counts only when nothing decided. */
export function quantified(loop: Loop, decisive: boolean): Code {
  const { node, range, slot } = loop;
  const holdsHere: Code = (run) => holds(run, loop);
  return (run) => {
    let failed: Fault | null = null;
    for (const item of itemsOf(run, node, range(run))) {
      run.spend(1);
      run.locals[slot] = item;
      const value = run.attempt(holdsHere);
      if (value === decisive) return decisive;
      if (value instanceof Fault) failed ??= value;
    }
    if (failed) throw failed;
    return !decisive;
  };
}
