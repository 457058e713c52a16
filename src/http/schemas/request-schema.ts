import * as z from "zod/mini";
import type { JsonSchema } from "./json-schema.ts";

type Schema = z.core.$ZodType;

/** Which side of a schema is shown: what is sent, or what a handler gets. */
export type Side = "input" | "output";

/**
 * A request's zod schema as JSON Schema, with what its metadata says. It knows the kinds that routes use and throws
 * for others, when the document is made; the tests hold it against zod's own generator, which is ten times its size.
 */
export function requestSchema(schema: Schema, side: Side): JsonSchema {
  return { ...keywords(schema, side), ...z.globalRegistry.get(schema) };
}

function keywords(schema: Schema, side: Side): JsonSchema {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  switch (def.type) {
    case "any":
    case "custom":
    case "transform":
      return {};
    case "boolean":
      return { type: "boolean" };
    case "string":
      return { type: "string", ...textChecks(schema) };
    case "number":
      return numberKeywords(schema);
    case "enum":
      return { type: "string", enum: Object.values(def.entries) };
    case "literal":
      return { type: typeof def.values[0], const: def.values[0] };
    case "array": {
      const { least, most } = bounds(schema);
      return {
        ...(least === undefined ? {} : { minItems: least }),
        ...(most === undefined ? {} : { maxItems: most }),
        type: "array",
        items: requestSchema(def.element, side),
      };
    }
    case "object":
      return objectKeywords(def, side);
    case "record":
      return {
        type: "object",
        propertyNames: requestSchema(def.keyType, side),
        additionalProperties: requestSchema(def.valueType, side),
      };
    case "union":
      return { anyOf: def.options.map((option) => requestSchema(option, side)) };
    case "nullable":
      return { anyOf: [requestSchema(def.innerType, side), { type: "null" }] };
    case "optional":
      return requestSchema(def.innerType, side);
    case "pipe":
      return requestSchema(sideOf(def, side), side);
    default:
      throw new Error(`Nothing says how a request's ${def.type} is shown in the OpenAPI document`);
  }
}

function objectKeywords(def: z.core.$ZodObjectDef, side: Side): JsonSchema {
  const members = Object.entries(def.shape);
  const required = members.filter(([, member]) => !isOptional(member, side)).map(([name]) => name);
  const strict = def.catchall?._zod.def.type === "never";
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(([name, member]) => [name, requestSchema(member, side)]),
    ),
    ...(required.length === 0 ? {} : { required }),
    ...(strict || (side === "output" && !def.catchall) ? { additionalProperties: false } : {}),
  };
}

function isOptional(member: Schema, side: Side): boolean {
  const { def } = member._zod as z.core.$ZodTypes["_zod"];
  if (def.type === "pipe") return isOptional(sideOf(def, side), side);
  return def.type === "optional";
}

/** What comes in, or where a function takes that, what the function makes of it. */
function sideOf(def: z.core.$ZodPipeDef, side: Side): Schema {
  return side === "output" || def.in._zod.def.type === "transform" ? def.out : def.in;
}

function textChecks(schema: Schema): JsonSchema {
  const { least, most } = bounds(schema);
  const patterns = checksOf(schema).flatMap((check) =>
    check.check === "string_format" && check.format === "regex" ? [check.pattern?.source] : [],
  );
  const { format } = schema._zod.def as Partial<z.core.$ZodStringFormatDef>;
  return {
    ...(least === undefined ? {} : { minLength: least }),
    ...(most === undefined ? {} : { maxLength: most }),
    // The format says it to people; its expression is a screenful.
    ...(format === "datetime" ? { format: "date-time" } : {}),
    ...(patterns.length === 0 ? {} : { pattern: patterns[0] }),
  };
}

function numberKeywords(schema: Schema): JsonSchema {
  const { format } = schema._zod.def as Partial<z.core.$ZodNumberFormatDef>;
  const whole = format === "safeint";
  const { least, most } = bounds(schema);
  return {
    type: whole ? "integer" : "number",
    minimum: least ?? Number.MIN_SAFE_INTEGER,
    maximum: most ?? Number.MAX_SAFE_INTEGER,
  };
}

/** The last checks of length or value that there are. */
function bounds(schema: Schema): { least?: number; most?: number } {
  const found: { least?: number; most?: number } = {};
  for (const check of checksOf(schema)) {
    if (check.check === "min_length") found.least = check.minimum;
    if (check.check === "max_length") found.most = check.maximum;
    if (check.check === "greater_than") found.least = Number(check.value);
    if (check.check === "less_than") found.most = Number(check.value);
  }
  return found;
}

function checksOf(schema: Schema): z.core.$ZodChecks["_zod"]["def"][] {
  return (schema._zod.def.checks ?? []).map(
    (check) => check._zod.def as z.core.$ZodChecks["_zod"]["def"],
  );
}
