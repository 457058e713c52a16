import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";

const KEYS = [
  "type",
  "initial",
  "states",
  "target",
  "on",
  "always",
  "after",
  "onDone",
  "history",
  "id",
  "guard",
  "actions",
  "reenter",
  "entry",
  "output",
  "invoke",
  "tags",
  "cond",
  "1000",
  "*",
  "",
  "a",
  "h",
];

const VALUES: JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  "",
  "a",
  "b",
  "h",
  ".a",
  "#m",
  "#m.a",
  "#x",
  "a.a",
  "a..b",
  ".",
  "constructor",
  "__proto__",
  "parallel",
  "compound",
  "atomic",
  "final",
  "history",
  "deep",
  "m.a",
  "x",
  [],
  ["a"],
  ["#m.a", "#m.b"],
  {},
  { type: "history" },
  { type: "final" },
  { a: {} },
  { target: "a" },
  { "@expr": "true" },
  { "@expr": "now > 1" },
  { "@expr": "(" },
  { type: "@xstate.raise", event: { type: "NEXT" } },
];

/** A definition with one to three changes at random places: members removed, replaced or added. */
export function mutations(definitions: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonValue> {
  const change = fc.record({
    place: fc.nat({ max: 9_999 }),
    kind: fc.constantFrom("remove" as const, "replace" as const, "add" as const, "rename" as const),
    key: fc.constantFrom(...KEYS),
    value: fc.constantFrom(...VALUES),
  });
  return fc
    .tuple(definitions, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([definition, changes]) => {
      let changed: JsonValue = definition;
      for (const { place, kind, key, value } of changes) {
        const path = paths(changed)[place % paths(changed).length] as string[];
        changed = edit(changed, path, (old, parent) => {
          if (kind === "remove") return parent === null ? [] : [];
          if (kind === "replace") return [[path.at(-1) ?? "", value]];
          if (kind === "rename") return [[key, old]];
          return [[path.at(-1) ?? "", isObject(old) ? { ...old, [key]: value } : value]];
        });
      }
      return changed;
    });
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Of all members, at any depth. */
function paths(value: JsonValue, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, member]) => paths(member, [...path, key]));
  return [path, ...below];
}

type Edit = (old: JsonValue, parent: JsonValue | null) => [string, JsonValue][];

function edit(value: JsonValue, path: readonly string[], change: Edit): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return change(value, null)[0]?.[1] ?? null;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, member]): [string, JsonValue][] => {
    if (key !== first) return [[key, member]];
    if (rest.length > 0) return [[key, edit(member, rest, change)]];
    return change(member, value);
  });
  if (Array.isArray(value)) return entries.map(([, member]) => member);
  return Object.fromEntries(entries);
}
