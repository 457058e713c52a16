import { serialize } from "@marcbachmann/cel-js";
import type { ASTNode } from "@marcbachmann/cel-js";
import { Fault } from "./run.ts";
import { excerpt, fault } from "./faults.ts";
import { isList, isMap, member, nounFor, Optional, wholeNumber } from "./values.ts";

type FieldNode = Extract<ASTNode, { op: "." | ".?" }>;
type IndexNode = Extract<ASTNode, { op: "[]" | "[?]" }>;

const NOTHING = new Optional(undefined);
/** Longer fields are not spelled out in advice. */
const ADVICE_CHARS = 80;

export function readField(node: FieldNode, owner: unknown): unknown {
  if (owner instanceof Optional) return readOptionalField(node, owner);
  if (!isMap(owner)) throw noOwner(node, owner);
  const value = member(owner, node.args[1]);
  if (value === undefined) throw missingField(node);
  return value;
}

export function readOptionalField(node: FieldNode, owner: unknown): Optional {
  const from = owner instanceof Optional ? owner.value : owner;
  if (from === undefined || from === null) return NOTHING;
  if (!isMap(from)) throw noOwner(node, from);
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
  if (!isMap(owner)) throw noOwner(node, owner);
  if (typeof key !== "string") {
    throw fault(node, "needs a string in its brackets: the keys of objects are strings");
  }
  return member(owner, key);
}

function noOwner(node: FieldNode | IndexNode, owner: unknown): Fault {
  return new Fault(() => {
    const what = `${excerpt(node)} looks into ${excerpt(node.args[0])}, which is ${nounFor(owner)}`;
    return `${what}${ownerAdvice(node, owner)}`;
  });
}

const COME_FROM: Record<string, string> = {
  input: "send `input`",
  params: "give `params`",
};

function ownerAdvice(node: FieldNode | IndexNode, owner: unknown): string {
  const [of, key] = node.args;
  const path = serialize(of);
  if (path.length > ADVICE_CHARS || typeof key !== "string") return "";
  if (key === "length" && (isList(owner) || typeof owner === "string"))
    return `: use size(${path})`;
  if (owner !== null || key.length > ADVICE_CHARS) return "";
  const remedy = COME_FROM[of.op === "id" ? of.args : ""];
  return remedy === undefined
    ? `: test it with has(${path}.${key})`
    : `: ${remedy}, or test it with has(${path}.${key})`;
}

function missingField(node: FieldNode): Fault {
  return new Fault(() => {
    const path = serialize(node);
    const name = node.args[1];
    if (path.length > ADVICE_CHARS) return `${excerpt(node)} is missing: test it with has()`;
    const optional = `${path.slice(0, path.length - name.length - 1)}.?${name}`;
    const advice = `test it with has(${path}), or give a default with ${optional}.orValue(null)`;
    return `${excerpt(node)} is missing: ${advice}`;
  });
}

function missingIndex(node: IndexNode, owner: unknown): Fault {
  return new Fault(() => {
    const [of = "", key = ""] = node.args.map(serialize);
    const brief = of.length + key.length <= ADVICE_CHARS;
    if (!isList(owner)) {
      return `${excerpt(node)} is missing${brief ? `: test it with ${key} in ${of}` : ""}`;
    }
    return `${excerpt(node)} is outside the list${brief ? `: compare with size(${of}) first` : ""}`;
  });
}
