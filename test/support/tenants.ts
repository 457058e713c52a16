import { expect } from "vitest";
import { call, fresh } from "./api.ts";

/** A tenant of its own, with a key that may do everything in it. */
export async function newTenant(): Promise<{ tenant: string; apiKey: string }> {
  const tenant = fresh("t").slice(0, 30);
  const body = { label: "all", scopes: ["admin"], tenant };
  const answer = await call("POST", "/v1/keys", { body });
  expect(answer.status).toBe(201);
  return { tenant, apiKey: answer.body.key };
}
