/** JSON Schema 2020-12, as OpenAPI 3.1 has it. Answers are described in it, requests by zod schemas. */
export interface JsonSchema {
  [keyword: string]: unknown;
}

export const text: JsonSchema = { type: "string" };
export const integer: JsonSchema = { type: "integer" };
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const flag: JsonSchema = { type: "boolean" };
export const anything: JsonSchema = {};
export const instant: JsonSchema = {
  type: "string",
  format: "date-time",
  description: "ISO 8601, UTC, with ms.",
};
export const anyObject: JsonSchema = { type: "object", additionalProperties: true };

/** An object; members whose name ends with `?` may be missing. */
export function object(members: { [name: string]: JsonSchema }): JsonSchema {
  const properties: { [name: string]: JsonSchema } = {};
  const required: string[] = [];
  for (const [name, schema] of Object.entries(members)) {
    const key = name.endsWith("?") ? name.slice(0, -1) : name;
    properties[key] = schema;
    if (key === name) required.push(key);
  }
  return { type: "object", properties, required };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

export function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema["type"] === "string" && !("enum" in schema)) {
    return { ...schema, type: [schema["type"], "null"] };
  }
  return { anyOf: [schema, { type: "null" }] };
}

export function oneOf(...values: (string | boolean)[]): JsonSchema {
  return { enum: values };
}

/** A schema by its name in the document's components. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function page(items: JsonSchema): JsonSchema {
  return object({ items: list(items), nextCursor: orNull(text), asOf: instant });
}
