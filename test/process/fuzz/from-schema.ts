import * as fc from "fast-check";
import type { JsonValue } from "../../../src/base/json.ts";
import type { JsonSchema } from "../../../src/http/schemas/json-schema.ts";

type Schemas = { [name: string]: JsonSchema };

const LONGEST = 300;
const MOST_ITEMS = 3;
const anything = fc.jsonValue({ maxDepth: 2, noUnicodeString: false }) as fc.Arbitrary<JsonValue>;

/** Values that fit a schema of the document; long ones are cut short, since limits are tried on purpose elsewhere. */
export function fitting(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<JsonValue> {
  const of = (inner: unknown) => fitting(inner as JsonSchema, schemas);
  if (typeof schema["$ref"] === "string") {
    return of(schemas[schema["$ref"].split("/").at(-1) ?? ""] ?? {});
  }
  if (Array.isArray(schema["anyOf"])) return fc.oneof(...schema["anyOf"].map(of));
  if ("const" in schema) return fc.constant(schema["const"] as JsonValue);
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as JsonValue[]));
  if (Array.isArray(schema["type"])) {
    return fc.oneof(...schema["type"].map((type) => of({ ...schema, type })));
  }
  if (schema["type"] === "object") return fittingObject(schema, schemas);
  if (schema["type"] === "array") {
    const { items = {}, minItems = 0 } = schema as { items?: JsonSchema; minItems?: number };
    const size = { minLength: minItems, maxLength: Math.max(minItems, MOST_ITEMS) };
    return schema["uniqueItems"] === true
      ? fc.uniqueArray(of(items), { ...size, comparator: "SameValueZero" })
      : fc.array(of(items), size);
  }
  if (schema["type"] === "string") return fittingText(schema);
  if (schema["type"] === "integer" || schema["type"] === "number") {
    const { minimum: min = -1e6, maximum: max = 1e6 } = schema as {
      minimum?: number;
      maximum?: number;
    };
    return schema["type"] === "integer"
      ? fc.integer({ min, max })
      : fc.double({ min, max, noNaN: true });
  }
  if (schema["type"] === "boolean") return fc.boolean();
  if (schema["type"] === "null") return fc.constant(null);
  return anything;
}

function fittingObject(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<JsonValue> {
  const {
    properties = {},
    required = [],
    additionalProperties,
    propertyNames,
  } = schema as {
    properties?: Schemas;
    required?: string[];
    additionalProperties?: boolean | JsonSchema;
    propertyNames?: JsonSchema;
  };
  const named = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, fitting(member, schemas)]),
    ),
    { requiredKeys: required },
  );
  if (additionalProperties === undefined || additionalProperties === false) {
    return named as fc.Arbitrary<JsonValue>;
  }
  const more = fc.dictionary(
    propertyNames ? (fittingText(propertyNames) as fc.Arbitrary<string>) : fc.string(),
    additionalProperties === true ? anything : fitting(additionalProperties, schemas),
    { maxKeys: MOST_ITEMS },
  );
  return fc.tuple(named, more).map((parts) => Object.assign({}, ...parts) as JsonValue);
}

function fittingText(schema: JsonSchema): fc.Arbitrary<string> {
  const {
    pattern,
    format,
    minLength = 0,
    maxLength = LONGEST,
  } = schema as {
    pattern?: string;
    format?: string;
    minLength?: number;
    maxLength?: number;
  };
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === "date-time") {
    const range = { min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z") };
    return fc.date({ ...range, noInvalidDate: true }).map((date) => date.toISOString());
  }
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, LONGEST) });
}
