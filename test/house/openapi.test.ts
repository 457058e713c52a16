import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { routes } from "../../src/http/app.ts";
import { openApiDocument } from "../../src/http/openapi.ts";

type Json = { [key: string]: unknown };

const document = openApiDocument(routes) as { components: { schemas: Json }; paths: Json };

function everySchema(value: unknown): Json[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "schema" ? [member as Json] : everySchema(member),
  );
}

it("every schema of the OpenAPI document is one that a strict validator compiles", () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false });
  ajv.addKeyword("components");
  for (const format of ["date-time", "uri"]) ajv.addFormat(format, true);
  const { components } = document;
  const schemas = [...everySchema(document), ...Object.values(components.schemas)] as Json[];
  expect(schemas.length).toBeGreaterThan(100);
  for (const schema of schemas) {
    const compile = () => ajv.compile({ ...schema, components });
    expect(compile, JSON.stringify(schema)).not.toThrow();
  }
  expect(() => ajv.compile({ $ref: "#/components/schemas/Nothing", components })).toThrow();
  expect(() => ajv.compile({ type: "text" })).toThrow();
});
