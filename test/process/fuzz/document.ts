import type { JsonSchema } from "../../../src/http/schemas/json-schema.ts";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  schema: JsonSchema;
}

/** An operation of the OpenAPI document that a server gives. */
export interface Operation {
  id: string;
  method: string;
  /** As the document writes it: `/v1/actors/{id}`. */
  path: string;
  parameters: Parameter[];
  /** Of the body; null when it takes none. */
  body: JsonSchema | null;
}

/** The document as far as it is read here. */
export interface Document {
  paths: { [path: string]: { [method: string]: unknown } };
  components: {
    parameters: { [name: string]: Parameter };
    schemas: { [name: string]: JsonSchema };
  };
}

interface Described {
  operationId: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: { "application/json": { schema: JsonSchema } } };
}

export function operationsOf({ paths, components }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId, parameters = [], requestBody } = described as Described;
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((one) =>
          "$ref" in one
            ? (components.parameters[one.$ref.split("/").at(-1) ?? ""] as Parameter)
            : one,
        ),
        body: requestBody?.content["application/json"].schema ?? null,
      };
    }),
  );
}
