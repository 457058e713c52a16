import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, PerdureError } from "../../src/sdk/index.ts";
import { answer, drop, problem, scriptedServer, truncate } from "./scripted-server.ts";
import type { Act } from "./scripted-server.ts";

const apiKey = "pk_acme_0123456789abcdef0123456789abcdef";

const shown = (value: unknown) => inspect(value, { depth: 10, showHidden: true });

async function failureAfter(act: Act): Promise<PerdureError> {
  const { baseUrl } = await scriptedServer(act);
  const client = createClient({ baseUrl, apiKey, retry: false });
  const error = await client.sendEvent("a", "PAY", { amount: 5 }, { key: "k-1" }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PerdureError);
  return error as PerdureError;
}

describe("a problem document", () => {
  it("becomes an error with its words, its single faults and its further members", async () => {
    const errors = [{ pointer: "/states/a", code: "unknown_target", message: "There is no b." }];
    const error = await failureAfter(
      problem(
        409,
        "actor_not_active",
        { retryable: false, errors, actorStatus: "done" },
        { "x-request-id": "req-9" },
      ),
    );
    expect(error).toMatchObject({
      name: "PerdureError",
      status: 409,
      code: "actor_not_active",
      detail: "It is actor_not_active.",
      errors,
      retryable: false,
      requestId: "req-9",
      retryAfterMs: null,
      members: { actorStatus: "done" },
      key: "k-1",
    });
    expect(error.message).toBe(
      "POST /v1/actors/a/events: 409 actor_not_active: It is actor_not_active.",
    );
  });

  it("without retryable is judged by its status", async () => {
    expect((await failureAfter(problem(429, "rate_limited"))).retryable).toBe(true);
    expect((await failureAfter(problem(404, "actor_not_found"))).retryable).toBe(false);
  });

  it("with members of the wrong kind is read as far as it goes", async () => {
    const error = await failureAfter(
      answer(422, { code: "definition_invalid", title: "No", errors: [1, { pointer: 2 }] }),
    );
    expect(error).toMatchObject({ code: "definition_invalid", detail: "No", errors: [] });
  });
});

describe("an answer that is not the API's", () => {
  it.each<[string, Act, number, boolean]>([
    ["a page of a proxy", answer(500, "<h1>Oops</h1>"), 500, false],
    ["a page of a gateway", answer(502, "<h1>Bad Gateway</h1>"), 502, true],
    ["an empty refusal", answer(401, ""), 401, false],
    ["JSON without a code", answer(404, { message: "nope" }), 404, false],
    ["a page in place of a result", answer(200, "<h1>Welcome</h1>"), 200, false],
    ["an empty result", answer(200, ""), 200, false],
  ])("%s is an unexpected_answer", async (_, act, status, retryable) => {
    const error = await failureAfter(act);
    expect(error).toMatchObject({ status, code: "unexpected_answer", retryable });
  });

  it("a redirect is not followed, since a redirected POST would arrive as a GET", async () => {
    const elsewhere = await scriptedServer(answer(200, {}));
    const error = await failureAfter(answer(302, "", { location: elsewhere.baseUrl }));
    expect(error).toMatchObject({ status: 302, code: "unexpected_answer" });
    expect(error.detail).toContain("redirect");
    expect(elsewhere.heard).toHaveLength(0);
  });

  it.each<[string, Act]>([
    ["cut before it began", drop],
    ["cut in the middle", truncate],
  ])("an answer %s is a network_error without a status", async (_, act) => {
    expect(await failureAfter(act)).toMatchObject({
      status: 0,
      code: "network_error",
      retryable: true,
      requestId: null,
      key: "k-1",
    });
  });
});

describe("the API key", () => {
  it("is not in an error, even when the server repeats it", async () => {
    const echo = problem(403, "forbidden", { hint: `Bearer ${apiKey}` }, { "x-request-id": "r" });
    const error = await failureAfter(echo);
    expect(error.code).toBe("forbidden");
    expect(shown(error)).not.toContain(apiKey);
  });

  it("is not in an error, even when fetch complains about what it was given", async () => {
    const client = createClient({
      baseUrl: "http://127.0.0.1:1",
      apiKey,
      retry: false,
      fetch: async (_, init) => {
        const cause = Object.assign(new Error("refused"), { request: init });
        throw new Error(`cannot send ${JSON.stringify(init.headers)}`, { cause });
      },
    });
    const error: unknown = await client.health().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "network_error" });
    expect(String(error)).toContain("cannot send");
    expect(shown(error)).not.toContain(apiKey);
  });

  it("is not in what a printed client shows", () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey });
    expect(shown(client)).not.toContain(apiKey);
    expect(JSON.stringify(client)).not.toContain(apiKey);
  });

  it("that no header can carry is refused without showing it", () => {
    for (const bad of [`${apiKey}\n`, `${apiKey}ü`, "", " "]) {
      const make = () => createClient({ baseUrl: "http://127.0.0.1:1", apiKey: bad });
      expect(make).toThrow(new TypeError("apiKey must be a text of visible ASCII characters"));
    }
  });
});
