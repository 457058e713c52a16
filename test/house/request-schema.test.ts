import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { routes } from "../../src/http/app.ts";
import { requestSchema } from "../../src/http/schemas/request-schema.ts";
import type { Side } from "../../src/http/schemas/request-schema.ts";

function zods(schema: z.core.$ZodType, io: Side) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ jsonSchema }) {
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
    },
  });
  return rest;
}

describe("a request's schema in the document", () => {
  it("is what zod's own generator makes of it, for every route", () => {
    let compared = 0;
    for (const { name, params, query, body, bodyShown } of routes) {
      for (const schema of [params, query, body, bodyShown]) {
        if (!schema) continue;
        for (const side of ["input", "output"] as const) {
          expect(requestSchema(schema, side), `${name} ${side}`).toEqual(zods(schema, side));
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(150);
  });

  it("is not guessed for kinds that no route has", () => {
    expect(() => requestSchema(z.strictObject({ at: z.date() }), "input")).toThrow("date");
    expect(() => requestSchema(z.map(z.string(), z.string()), "output")).toThrow("map");
  });
});
