import { afterEach, describe, expect, it, vi } from "vitest";
import { parseHttpInput } from "../../src/activities/http-input.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { callHttp } from "../../src/outbound/call-http.ts";

interface Asked {
  url: string;
  method: string;
  headers: Headers;
  body: string | null;
}

afterEach(() => vi.restoreAllMocks());

/** Answers by address; all else is a network that fails. */
function network(answers: Record<string, () => Response>): Asked[] {
  const asked: Asked[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const url = String(input);
    const { method = "", headers, body } = init as RequestInit;
    asked.push({ url, method, headers: new Headers(headers), body: body as string | null });
    const answer = answers[url];
    if (answer === undefined) throw new TypeError(`no way to ${url}`);
    return answer();
  });
  return asked;
}

function called(input: JsonValue, env = {}, signal = new AbortController().signal) {
  const parsed = parseHttpInput(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return callHttp(parsed.value, "uid:2:0", env, signal);
}

const START = "https://one.example.com/start";
const to = (location: string, status: number) => () =>
  new Response("", { status, headers: { Location: location } });

describe("a redirect", () => {
  it.each([
    ["http://127.0.0.1/"],
    ["http://169.254.169.254/latest/meta-data/"],
    ["http://[::1]/"],
    ["http://intranet/"],
    ["https://user:word@two.example.com/"],
    ["file:///etc/passwd"],
  ])("to %s is not followed", async (target) => {
    const asked = network({ [START]: to(target, 302) });
    const { failure } = (await called({ url: START })) as { failure: { message: string } };
    expect(failure).toMatchObject({ code: "refused", retryable: false });
    expect(failure.message).not.toContain(target);
    expect(asked).toHaveLength(1);
  });

  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
    [307, "POST", "POST"],
    [308, "PUT", "PUT"],
    [301, "PUT", "PUT"],
    [302, "GET", "GET"],
    [303, "HEAD", "HEAD"],
  ])("of %d makes of a %s a %s", async (status, method, then) => {
    const asked = network({
      [START]: to("/next#part", status),
      "https://one.example.com/next": () => Response.json({}),
    });
    const body = method === "GET" || method === "HEAD" ? {} : { body: { n: 1 } };
    const headers = { Authorization: "Bearer x", Cookie: "c=1", "X-Own": "o" };
    expect(await called({ url: START, method, headers, ...body })).toHaveProperty("output");
    const [, next] = asked as [Asked, Asked];
    expect(next.method).toBe(then);
    const kept = then === method && "body" in body;
    expect(next.body).toBe(kept ? '{"n":1}' : null);
    expect(next.headers.get("Content-Type")).toBe(kept ? "application/json" : null);
    expect(next.headers.get("Idempotency-Key")).toBe('"uid:2:0"');
    expect(next.headers.get("Authorization")).toBe("Bearer x");
  });

  it("to another origin goes without credentials, also on the way back", async () => {
    const asked = network({
      [START]: to("https://two.example.com/", 307),
      "https://two.example.com/": to("https://one.example.com/back", 307),
      "https://one.example.com/back": () => Response.json({}),
    });
    const headers = { authorization: "Bearer x", cookie: "c=1", "X-Own": "o" };
    await called({ url: START, method: "POST", headers });
    expect(asked.map((one) => one.headers.get("Authorization"))).toEqual(["Bearer x", null, null]);
    expect(asked.map((one) => one.headers.get("Cookie"))).toEqual(["c=1", null, null]);
    expect(asked.map((one) => one.headers.get("X-Own"))).toEqual(["o", "o", "o"]);
  });

  it("without an address, or of another kind, is an answer", async () => {
    network({ [START]: () => new Response(null, { status: 304 }) });
    expect(await called({ url: START })).toMatchObject({
      failure: { code: "http_status", status: 304, retryable: false },
    });
    network({ [START]: () => new Response(null, { status: 302 }) });
    expect(await called({ url: START })).toMatchObject({ failure: { status: 302 } });
  });
});

describe("an answer", () => {
  const body = async (text: string, type = "application/json") => {
    network({ [START]: () => new Response(text, { headers: { "Content-Type": type } }) });
    return ((await called({ url: START })) as { output: { body: unknown } }).output.body;
  };

  it("has its headers in lower case, and each of its cookies", async () => {
    const headers = new Headers({ "X-Own": "1" });
    headers.append("X-Own", "2");
    for (const cookie of ["a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT", "b=2"]) {
      headers.append("Set-Cookie", cookie);
    }
    network({ [START]: () => new Response(null, { headers }) });
    expect(await called({ url: START })).toMatchObject({
      output: {
        headers: {
          "x-own": "1, 2",
          "set-cookie": ["a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT", "b=2"],
        },
      },
    });
  });

  it("is parsed where it says that it is JSON", async () => {
    expect(await body('{"a":[1]}')).toEqual({ a: [1] });
    expect(await body("[1]", "application/problem+json; charset=utf-8")).toEqual([1]);
    expect(await body("[1]", "text/plain")).toBe("[1]");
    expect(await body("[1]", "text/json-ish")).toBe("[1]");
    expect(await body("")).toBe(null);
  });

  it("that is no JSON, or no data that can be kept, is text", async () => {
    for (const text of [
      "{",
      "1e999",
      '"\\ud800"',
      '{"xstate$$type":1}',
      "[".repeat(70) + "]".repeat(70),
    ]) {
      expect(await body(text)).toBe(text);
    }
  });

  it("may be as long as the limit, headers included, and no longer", async () => {
    const type = "text/plain";
    const own = JSON.stringify({ "content-type": type }).length;
    const most = LIMITS.httpResponseBytes - own;
    expect(await body("x".repeat(most), type)).toHaveLength(most);
    network({
      [START]: () => new Response("x".repeat(most + 1), { headers: { "Content-Type": type } }),
    });
    expect(await called({ url: START })).toMatchObject({
      failure: { code: "too_large", retryable: false },
    });
  });

  it("that is much longer as JSON than it came is too large", async () => {
    const controls = (count: number) => body("\u0001".repeat(count), "text/plain");
    expect(await controls(70_000)).toHaveLength(70_000);
    network({ [START]: () => new Response("\u0001".repeat(80_000)) });
    expect(await called({ url: START })).toMatchObject({
      failure: { code: "too_large", retryable: false },
    });
  });

  it("with names of headers that mean something to JavaScript or XState is data like any other", async () => {
    const names = { __proto__x: "a", constructor: "b", xstate$$type: "c" };
    const headers = new Headers(names);
    headers.set("__proto__", "d");
    network({ [START]: () => new Response(null, { headers }) });
    const { output } = (await called({ url: START })) as { output: { headers: object } };
    expect(Object.entries(output.headers)).toEqual([
      ["__proto__", "d"],
      ["__proto__x", "a"],
      ["constructor", "b"],
    ]);
    expect(Object.getPrototypeOf(output.headers)).toBe(Object.prototype);
  });

  it.each([
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
    [404, false],
    [409, false],
    [422, false],
  ])("of %d may be tried again: %s", async (status, retryable) => {
    const headers = { "Retry-After": "7" };
    network({ [START]: () => Response.json({ why: "so" }, { status, headers }) });
    expect(await called({ url: START })).toEqual({
      failure: {
        code: "http_status",
        message: `The answer was ${status}.`,
        status,
        body: { why: "so" },
        ...(retryable ? { retryAfterMs: 7_000 } : {}),
        retryable,
      },
    });
  });

  it("that says no at length is cut", async () => {
    network({ [START]: () => new Response("n".repeat(100_000), { status: 400 }) });
    const { failure } = (await called({ url: START })) as { failure: { body: string } };
    expect(failure.body).toHaveLength(LIMITS.httpErrorBytes);
  });
});

describe("a call that fails", () => {
  it("says so in a word, and not where or how", async () => {
    network({});
    const { failure } = (await called({ url: START, headers: { "X-Key": "secret" } })) as {
      failure: { message: string };
    };
    expect(failure).toEqual({
      code: "network",
      message: "The connection failed.",
      retryable: true,
    });
  });

  it("is not made to an address that is not called", async () => {
    const asked = network({});
    expect(await called({ url: "http://10.0.0.1/" })).toMatchObject({
      failure: { code: "refused", retryable: false },
    });
    expect(asked).toEqual([]);
  });
});
