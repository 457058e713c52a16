import { describe, expect, it } from "vitest";
import { createApp, routes } from "../../src/http/app.ts";
import { laterRoutes } from "../../src/http/not-yet.ts";
import { apiDocument } from "../support/api-document.ts";
import { call } from "../support/api.ts";

type Parameter = { name: string; in: string; required?: boolean; $ref?: string };
type Operation = {
  operationId: string;
  security: object[];
  parameters: Parameter[];
  requestBody?: { content: { [type: string]: { schema: { [keyword: string]: unknown } } } };
  responses: { [status: string]: { description: string } };
};

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    operation: operation as unknown as Operation,
  })),
);

function everyRef(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "$ref" ? [member as string] : everyRef(member),
  );
}

function resolve(ref: string): unknown {
  let target: unknown = apiDocument;
  for (const part of ref.slice(2).split("/")) target = (target as Record<string, unknown>)?.[part];
  return target;
}

describe("the OpenAPI document", () => {
  it("is public JSON of version 3.1", async () => {
    const answer = await call("GET", "/openapi.json", { apiKey: null });
    expect(answer.status).toBe(200);
    expect(answer.body.openapi).toMatch(/^3\.1\./);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(apiDocument)));
  });

  it("has every route that is mounted and is not for later", () => {
    const mounted = createApp()
      .routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const later = laterRoutes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const published = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(mounted.filter((route) => !later.includes(route)).toSorted()).toEqual(
      published.toSorted(),
    );
    expect(published).toHaveLength(routes.length);
    expect(new Set(mounted).size).toBe(mounted.length);
  });

  it("refers only to what it has", () => {
    const refs = new Set(everyRef(apiDocument));
    expect(refs.size).toBeGreaterThan(10);
    for (const ref of refs) expect(resolve(ref), ref).toBeDefined();
  });

  it("names each operation once and declares each parameter of its path", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.filter((parameter) => parameter.in === "path");
      expect(
        declared.map(({ name }) => name),
        path,
      ).toEqual(inPath);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  it("says which key, headers and refusals each operation has", () => {
    for (const { path, method, operation } of operations) {
      const open = ["/v1/health", "/openapi.json"].includes(path);
      const stream = path.endsWith("/stream");
      expect(operation.security.length, path).toBe(open ? 0 : stream ? 3 : 2);
      const refs = operation.parameters.map(({ $ref }) => $ref?.split("/").at(-1));
      expect(refs).toContain("RequestId");
      const changes =
        method === "post" &&
        !/validate|scenario|preview|replay|clock|token|claim|heartbeat/.test(path);
      expect(
        refs.some((ref) => ref?.endsWith("IdempotencyKey")),
        path,
      ).toBe(changes);
      expect(operation.responses["500"]).toBeDefined();
      if (!open) expect(operation.responses["401"]).toBeDefined();
      if (operation.requestBody) expect(operation.responses["415"]).toBeDefined();
    }
  });

  it("says what is for development servers only", () => {
    const clock = apiDocument.paths["/v1/actors/{id}/clock/advance"]?.["post"];
    const { description, responses } = clock as unknown as Operation & { description: string };
    expect(description).toContain("only on development servers");
    expect(responses["404"]?.description).toContain("only on development servers");
  });

  it("publishes the schemas by which requests are validated", () => {
    const deploy = apiDocument.paths["/v1/definitions"]?.["put"] as unknown as Operation;
    const schema = deploy.requestBody?.content["application/json"]?.schema as {
      required: string[];
      additionalProperties: boolean;
      properties: Record<string, { type: string }>;
    };
    expect(schema.required).toEqual(["id", "definition"]);
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties["definition"]?.type).toBe("object");
    expect(schema.properties["stateMapping"]).toMatchObject({
      type: "object",
      additionalProperties: { anyOf: [{ type: "string" }, { type: "array" }] },
    });
    const list = apiDocument.paths["/v1/definitions"]?.["get"] as unknown as Operation;
    expect(list.parameters[0]).toMatchObject({
      name: "limit",
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 200 },
    });
  });
});
