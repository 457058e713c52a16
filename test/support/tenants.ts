import { afterAll, expect } from "vitest";
import { call, fresh } from "./api.ts";
import { until } from "./until.ts";

const keys = ["dev"];

// A sweep that goes on while the runner ends wakes objects whose code it would have to load: the runner fails.
afterAll(async () => {
  const rested = (apiKey: string) =>
    until(
      () => call("GET", "/v1/migrations?limit=200", { apiKey }),
      ({ body }) => !body.items?.some(({ state }: { state: string }) => state === "sweeping"),
      60_000,
    );
  await Promise.all(keys.map(rested));
}, 90_000);

/** A tenant of its own, with a key that may do everything in it. */
export async function newTenant(): Promise<{ tenant: string; apiKey: string }> {
  const tenant = fresh("t").slice(0, 30);
  const body = { label: "all", scopes: ["admin"], tenant };
  const answer = await call("POST", "/v1/keys", { body });
  expect(answer.status).toBe(201);
  keys.push(answer.body.key);
  return { tenant, apiKey: answer.body.key };
}
