import { serialize } from "@marcbachmann/cel-js/serialize";
import type { ASTNode } from "@marcbachmann/cel-js";
import type { Fault } from "./run.ts";
import { excerpt, fault } from "./faults.ts";
import { isList, isMap, member, nounFor, Optional, wholeNumber } from "./values.ts";

type FieldNode = Extract<ASTNode, { op: "." | ".?" }>;
type IndexNode = Extract<ASTNode, { op: "[]" | "[?]" }>;

const NOTHING = new Optional(undefined);
/** Longer fields are not spelled out in advice. */
const ADVICE_CHARS = 80;

export function readField(node: FieldNode, owner: unknown): unknown {
  if (owner instanceof Optional) return readOptionalField(node, owner);
  if (!isMap(owner)) throw fault(node, `reads a field of ${nounFor(owner)}`);
  const value = member(owner, node.args[1]);
  if (value === undefined) throw missingField(node);
  return value;
}

export function readOptionalField(node: FieldNode, owner: unknown): Optional {
  const from = owner instanceof Optional ? owner.value : owner;
  if (from === undefined || from === null) return NOTHING;
  if (!isMap(from)) throw fault(node, `reads a field of ${nounFor(from)}`);
  return new Optional(member(from, node.args[1]));
}

/** has(): what is no object has no fields. */
export function hasField(owner: unknown, name: string): boolean {
  const from = owner instanceof Optional ? owner.value : owner;
  return isMap(from) && member(from, name) !== undefined;
}

export function readIndex(node: IndexNode, owner: unknown, key: unknown): unknown {
  if (owner instanceof Optional) return readOptionalIndex(node, owner, key);
  const value = indexed(node, owner, key);
  if (value === undefined) throw missingIndex(node, owner);
  return value;
}

export function readOptionalIndex(node: IndexNode, owner: unknown, key: unknown): Optional {
  const from = owner instanceof Optional ? owner.value : owner;
  if (from === undefined || from === null) return NOTHING;
  return new Optional(indexed(node, from, key));
}

function indexed(node: IndexNode, owner: unknown, key: unknown): unknown {
  if (isList(owner)) {
    const index = wholeNumber(key);
    if (index === null) throw fault(node, "needs a whole number in its brackets");
    return index < 0 ? undefined : owner[index];
  }
  if (!isMap(owner)) throw fault(node, `looks inside ${nounFor(owner)}`);
  if (typeof key !== "string") {
    throw fault(node, "needs a string in its brackets: the keys of objects are strings");
  }
  return member(owner, key);
}

function missingField(node: FieldNode): Fault {
  const path = serialize(node);
  const name = node.args[1];
  if (path.length > ADVICE_CHARS) return fault(node, "is missing: test it with has()");
  const owner = path.slice(0, path.length - name.length - 1);
  return fault(
    node,
    `is missing: test it with has(${path}), or give a default with ${owner}.?${name}.orValue(null)`,
  );
}

function missingIndex(node: IndexNode, owner: unknown): Fault {
  const [of, key] = node.args;
  return isList(owner)
    ? fault(node, `is outside the list: compare with size(${excerpt(of).slice(1, -1)}) first`)
    : fault(node, `is missing: test it with ${excerpt(key).slice(1, -1)} in ${excerpt(of)}`);
}
