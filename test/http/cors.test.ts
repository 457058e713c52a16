import { describe, expect, it } from "vitest";
import { call } from "../support/api.ts";

const origin = "https://app.example";
const preflight = {
  apiKey: null,
  headers: {
    Origin: origin,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "Authorization, Idempotency-Key",
  },
};

describe("CORS", () => {
  it("is off by default", async () => {
    const answer = await call("GET", "/v1/definitions", { headers: { Origin: origin } });
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
    const asked = await call("OPTIONS", "/v1/definitions", preflight);
    expect(asked.status).toBe(405);
    expect(asked.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("lets the configured origins in, refusals included", async () => {
    const env = { CORS_ORIGINS: `https://other.example, ${origin}` };
    for (const [path, apiKey] of [
      ["/v1/definitions", "dev"],
      ["/v1/definitions", "wrong"],
      ["/v1/nothing", "dev"],
    ] as const) {
      const answer = await call("GET", path, { apiKey, env, headers: { Origin: origin } });
      expect(answer.headers.get("Access-Control-Allow-Origin"), path).toBe(origin);
      expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("ETag");
      expect(answer.headers.get("Vary")).toContain("Origin");
    }
    const foreign = { env, headers: { Origin: "https://evil.example" } };
    const answer = await call("GET", "/v1/definitions", foreign);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("answers preflights without a key", async () => {
    const env = { CORS_ORIGINS: origin };
    const answer = await call("OPTIONS", "/v1/actors", { ...preflight, env });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("Access-Control-Allow-Methods")).toContain("PATCH");
    expect(answer.headers.get("Access-Control-Allow-Headers")).toContain("Idempotency-Key");
  });

  it("can be opened to every origin", async () => {
    const options = { env: { CORS_ORIGINS: "*" }, headers: { Origin: origin } };
    const answer = await call("GET", "/v1/definitions", options);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(answer.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  });
});
