import { Validator } from "@cfworker/json-schema";
import type { Schema } from "@cfworker/json-schema";
import type { JsonSchema } from "../../src/http/schemas/json-schema.ts";

interface Operation {
  responses: { [status: string]: { content?: { [mediaType: string]: { schema: JsonSchema } } } };
}

export interface ApiDocument {
  openapi: string;
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: JsonSchema } };
}

export interface DocumentedAnswer {
  status: number;
  mediaType: string | null;
  body: unknown;
}

const PROBLEM: { [mediaType: string]: { schema: JsonSchema } } = {
  "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
};

/** An object with members that the document does not name is a mistake in the document or the answer. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, closed(value)]),
  );
  const isObject = typeof copy["properties"] === "object" && copy["type"] === "object";
  return isObject && !("additionalProperties" in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

/**
 * What is wrong with an answer, held against an OpenAPI document; null when it is as published.
 * What is not in the document, such as an unknown path, can only answer with a problem.
 */
export function faultsBy(
  document: ApiDocument,
): (method: string, path: string, answer: DocumentedAnswer) => string | null {
  const schemas = closed(document.components.schemas);
  const validators = new Map<string, Validator>();
  const validatorOf = (name: string, schema: JsonSchema): Validator => {
    let validator = validators.get(name);
    if (!validator) {
      const whole = { ...(closed(schema) as object), components: { schemas } } as unknown as Schema;
      validator = new Validator(whole, "2020-12", false);
      validators.set(name, validator);
    }
    return validator;
  };
  const places = Object.entries(document.paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    operations,
  }));
  const operationAt = (method: string, path: string): Operation | null => {
    const exact = document.paths[path]?.[method.toLowerCase()];
    if (exact) return exact;
    const found = places.find(
      ({ pattern, operations }) => pattern.test(path) && operations[method.toLowerCase()],
    );
    return found?.operations[method.toLowerCase()] ?? null;
  };

  return (method, path, answer) => {
    const { status, mediaType, body } = answer;
    // A preflight of a browser; it belongs to no operation.
    if (method === "OPTIONS" && status === 204)
      return body === null ? null : "A preflight has a body";
    const operation = operationAt(method === "HEAD" ? "GET" : method, path);
    const documented = operation?.responses[status];
    const place = `${method} ${path} → ${status}`;
    if (operation && !documented && ![404, 405].includes(status)) {
      return `${place} is not in the document: ${JSON.stringify(body)}`;
    }
    const content = documented ? documented.content : PROBLEM;
    if (!content)
      return mediaType === null && body === null ? null : `${place} should have no body`;
    const schema = content[mediaType ?? ""]?.schema;
    if (!schema) return `${place} has the media type ${mediaType}`;
    if (method === "HEAD") return null;
    const name = documented
      ? `${place.replace(/^\S+ \S+/, "")} ${JSON.stringify(schema)}`
      : "Problem";
    const result = validatorOf(name, schema).validate(body);
    if (result.valid) return null;
    const errors = result.errors.map(
      ({ instanceLocation, error }) => `${instanceLocation} ${error}`,
    );
    return `${place} is not as documented:\n${errors.join("\n")}\n${JSON.stringify(body, null, 2)}`;
  };
}
