import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import type { JsonSchema } from "../../../src/http/schemas/json-schema.ts";
import type { Operation } from "./document.ts";
import { fitting } from "./from-schema.ts";
import * as hostile from "./hostile.ts";
import type { Sent } from "./request.ts";
import type { Valid } from "./valid.ts";

/** A request that is being made up. */
interface Draft {
  method: string;
  params: { [name: string]: string };
  path: (path: string) => string;
  query: [string, string][];
  headers: { [name: string]: string | string[] };
  json: JsonValue | undefined;
  text: (text: string) => string | Uint8Array;
}

/** One thing that is changed about a valid request; as JSON it says what. */
export type Change =
  | { kind: "body"; value: JsonValue }
  | { kind: "members"; value: JsonObject }
  | { kind: "value"; place: number; what: "set" | "remove" | "wrap"; value: number }
  | { kind: "member"; place: number; name: number; value: number }
  | { kind: "text"; how: number }
  | { kind: "header"; header: number; value: number; twice: boolean }
  | { kind: "no header"; header: number }
  | { kind: "param"; param: number; value: number }
  | { kind: "path"; how: number }
  | { kind: "query"; name: number; value: number; twice: boolean }
  | { kind: "method"; method: number };

const at = <Item>(list: readonly Item[], place: number): Item => list[place % list.length] as Item;
const place = fc.nat({ max: 9_999 });

/** What may be changed about requests of an operation: one or two things. */
export function changesOf(
  operation: Operation,
  schemas: { [name: string]: JsonSchema },
): fc.Arbitrary<Change[]> {
  const { body, parameters } = operation;
  const of = <Kind extends Change["kind"]>(
    kind: Kind,
    more: {
      [Member in keyof Omit<Extract<Change, { kind: Kind }>, "kind">]: fc.Arbitrary<unknown>;
    },
  ) => fc.record({ kind: fc.constant(kind), ...more }) as unknown as fc.Arbitrary<Change>;
  const kinds = [
    { weight: 2, arbitrary: of("header", { header: place, value: place, twice: fc.boolean() }) },
    { weight: 1, arbitrary: of("no header", { header: place }) },
    { weight: 2, arbitrary: of("query", { name: place, value: place, twice: fc.boolean() }) },
    { weight: 1, arbitrary: of("path", { how: place }) },
    { weight: 1, arbitrary: of("method", { method: place }) },
  ];
  if (parameters.some(({ in: where }) => where === "path")) {
    kinds.push({ weight: 3, arbitrary: of("param", { param: place, value: place }) });
  }
  if (body) {
    const fits = fitting(body, schemas);
    const what = fc.constantFrom("set", "set", "remove", "wrap");
    kinds.push(
      { weight: 4, arbitrary: of("body", { value: fits }) },
      { weight: 6, arbitrary: of("members", { value: fits }) },
      { weight: 9, arbitrary: of("value", { place, what, value: place }) },
      { weight: 3, arbitrary: of("member", { place, name: place, value: place }) },
      { weight: 3, arbitrary: of("text", { how: place }) },
    );
  }
  return fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 2 });
}

/** The request as it is sent, after the changes. */
export function requestOf(
  operation: Operation,
  valid: Valid,
  key: string,
  changes: readonly Change[],
): Sent {
  const { params = {}, query = {}, headers = {}, body } = valid;
  const draft: Draft = {
    method: operation.method,
    params: { ...params },
    path: (path) => path,
    query: Object.entries(query),
    headers: {
      Authorization: `Bearer ${key}`,
      "Idempotency-Key": crypto.randomUUID(),
      "Content-Type": "application/json",
      ...headers,
    },
    json: body,
    text: (text) => text,
  };
  if (body === undefined) delete draft.headers["Content-Type"];
  for (const change of changes) apply(change, draft, operation);
  return sentAs(draft, operation);
}

function sentAs(draft: Draft, { path }: Operation): Sent {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => draft.params[name] ?? "");
  const query = draft.query.map((pair) => pair.join("=")).join("&");
  const whole = `${draft.path(filled)}${query === "" ? "" : `?${query}`}`;
  const { method, headers, json } = draft;
  let body: Uint8Array | null = null;
  if (json !== undefined) {
    const text = draft.text(hostile.textOf(json));
    body = typeof text === "string" ? Buffer.from(text) : text;
    headers["Content-Length"] = String(body.byteLength);
  }
  return { method, path: whole, headers, body };
}

function apply(change: Change, draft: Draft, { parameters }: Operation): void {
  switch (change.kind) {
    case "body":
      draft.json = change.value;
      break;
    case "members":
      draft.json = merged(draft.json, change.value);
      break;
    case "value":
      draft.json = changed(draft.json ?? {}, change.place, (old) => {
        if (change.what === "remove") return undefined;
        return change.what === "wrap" ? [old] : at(hostile.VALUES, change.value);
      });
      break;
    case "member":
      draft.json = changed(draft.json ?? {}, change.place, (old) => {
        const more: JsonObject = JSON.parse(
          `{${JSON.stringify(at(hostile.NAMES, change.name))}:${JSON.stringify(at(hostile.VALUES, change.value))}}`,
        );
        return isObject(old) ? Object.assign(Object.create(null), old, more) : more;
      });
      break;
    case "text":
      draft.text = at(hostile.TEXTS, change.how);
      break;
    case "header": {
      const [name, values] = at(hostile.HEADERS, change.header);
      const value = at(values, change.value) as string;
      draft.headers[name] = change.twice && name !== "Host" ? [value, value] : value;
      if (name === "Upgrade") draft.headers["Connection"] = "Upgrade";
      break;
    }
    case "no header":
      delete draft.headers[at(Object.keys(draft.headers), change.header)];
      break;
    case "param": {
      const names = parameters.filter((one) => one.in === "path");
      draft.params[at(names, change.param).name] = at(hostile.SEGMENTS, change.value);
      break;
    }
    case "path":
      draft.path = at(hostile.PATHS, change.how);
      break;
    case "query": {
      const known = parameters.filter((one) => one.in === "query").map(({ name }) => name);
      const name = at([...known, ...known, ...hostile.QUERY_NAMES], change.name);
      const pair: [string, string] = [name, at(hostile.QUERY_VALUES, change.value)];
      draft.query = [...draft.query.filter(([other]) => other !== name), pair];
      if (change.twice) draft.query.push(pair);
      break;
    }
    case "method":
      draft.method = at(hostile.METHODS, change.method);
      break;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What was valid, and about half of what only fits the schema. */
function merged(valid: JsonValue | undefined, fits: JsonObject): JsonValue {
  if (!isObject(valid)) return fits;
  const some = Object.entries(fits).filter((_, index) => index % 2 === 0);
  return { ...valid, ...Object.fromEntries(some) };
}

/** A copy with one value changed, at any depth; undefined takes it away. */
function changed(
  value: JsonValue,
  index: number,
  change: (old: JsonValue) => JsonValue | undefined,
): JsonValue {
  const copy = structuredClone(value);
  const places: { parent: { [name: string]: JsonValue }; name: string }[] = [];
  const walk = (parent: { [name: string]: JsonValue }) => {
    for (const name of Object.keys(parent)) {
      places.push({ parent, name });
      const member = parent[name];
      if (typeof member === "object" && member !== null)
        walk(member as { [name: string]: JsonValue });
    }
  };
  if (typeof copy === "object" && copy !== null) walk(copy as { [name: string]: JsonValue });
  // The value itself is a place too.
  const found = places[index % (places.length + 1)];
  if (!found) return change(copy) ?? null;
  const { parent, name } = found;
  const now = change(parent[name] as JsonValue);
  if (now !== undefined) parent[name] = now;
  else if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
  return copy;
}
