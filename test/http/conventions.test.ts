import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";
import { LIMITS } from "../../src/base/limits.ts";
import { createApp } from "../../src/http/app.ts";
import { route } from "../../src/http/route.ts";
import { call, deployDoor, expectProblem, fresh, spawnDoor } from "../support/api.ts";

const validate = "/v1/definitions/validate";

describe("what is not there", () => {
  it("is a 404 that leads to the document", async () => {
    for (const path of ["/", "/v1", "/v1/nothing", "/v1/actors/a/b/c", "/v2/actors", "/v1/keys/"]) {
      const answer = await call("GET", path);
      expectProblem(answer, 404, "not_found");
      expect(answer.body.detail).toContain("/openapi.json");
    }
  });

  it("for this method is a 405 that names the others", async () => {
    const answer = await call("DELETE", "/v1/definitions");
    expectProblem(answer, 405, "method_not_allowed");
    expect(answer.headers.get("Allow")?.split(", ").toSorted()).toEqual(["GET", "HEAD", "PUT"]);
    expect(answer.body.detail).toMatch(/; .+, .+ are\.$/);
    const pause = await call("PUT", "/v1/actors/a/pause");
    expect(pause.body.detail).toBe("PUT is not allowed here; POST is.");
    expectProblem(await call("POST", "/v1/health"), 405, "method_not_allowed");
    expectProblem(await call("GET", "/v1/actors/a/pause"), 405, "method_not_allowed");
    expectProblem(await call("OPTIONS", "/v1/actors/a"), 405, "method_not_allowed");
  });

  it("is said before anything else is looked at", async () => {
    expectProblem(await call("POST", "/v1/nothing", { apiKey: null, body: "{" }), 404, "not_found");
    const wrong = { apiKey: null, body: "{" };
    expectProblem(await call("PUT", "/v1/actors/a", wrong), 405, "method_not_allowed");
  });

  it("yet is a 501 that says what to do until then", async () => {
    expectProblem(await call("GET", "/docs", { apiKey: null }), 501, "not_yet");
  });
});

describe("a body", () => {
  it("that is not JSON is a 400", async () => {
    for (const body of ["", "{", "{]", "nul", '{"definition": {}} x', "{'a': 1}", "\u0000"]) {
      expectProblem(await call("POST", validate, { body }), 400, "invalid_json");
    }
  });

  it("that is not UTF-8 is a 400", async () => {
    const body = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);
    expectProblem(await call("POST", validate, { body }), 400, "invalid_json");
  });

  it("that is JSON but no object is a 400", async () => {
    for (const body of ["null", "1", '"x"', "[]", "true"]) {
      expectProblem(await call("POST", validate, { body }), 400, "invalid_request");
    }
  });

  it("of another media type is a 415", async () => {
    const body = '{"definition": {}}';
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "text/json"]) {
      const answer = await call("POST", validate, { body, headers: { "Content-Type": type } });
      expectProblem(answer, 415, "unsupported_media_type");
    }
    const latin = { "Content-Type": "application/json; charset=iso-8859-1" };
    expectProblem(
      await call("POST", validate, { body, headers: latin }),
      415,
      "unsupported_media_type",
    );
    for (const type of [
      "application/json; charset=UTF-8",
      'application/json;charset="utf-8"',
      "Application/JSON",
      "application/vnd.acme+json",
    ]) {
      const answer = await call("POST", validate, { body, headers: { "Content-Type": type } });
      expect(answer.status, type).toBe(200);
    }
  });

  it("is taken at the limit of its size and refused one byte past it", async () => {
    const sized = (bytes: number) => `{"definition": {}}${" ".repeat(bytes - 18)}`;
    expect((await call("POST", validate, { body: sized(LIMITS.bodyBytes) })).status).toBe(200);
    const answer = await call("POST", validate, { body: sized(LIMITS.bodyBytes + 1) });
    expectProblem(answer, 413, "too_large");
    expect(answer.body).toMatchObject({ limit: "bodyBytes", most: LIMITS.bodyBytes });
  });

  it("of 2 MB is refused, also when it arrives in chunks of unknown number", async () => {
    expectProblem(await call("POST", validate, { body: "x".repeat(2_000_000) }), 413, "too_large");
    let sent = 0;
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
        if (++sent === 40) controller.close();
      },
    });
    expectProblem(await call("POST", validate, { body: stream }), 413, "too_large");
    expect(sent).toBeLessThan(40);
  });

  it("that announces too much is refused before it is read", async () => {
    const body = '{"definition": {}}';
    const headers = { "Content-Length": String(LIMITS.bodyBytes + 1) };
    expectProblem(await call("POST", validate, { body, headers }), 413, "too_large");
  });

  it("in chunks is read like any other", async () => {
    const text = '{"definition": {"id": "ö"}}';
    const bytes = new TextEncoder().encode(text);
    const stream = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    expect((await call("POST", validate, { body: stream })).status).toBe(200);
  });

  it("is taken at the limit of its depth and refused one level past it", async () => {
    const nested = (levels: number) => {
      const inner = levels - 2;
      return `{"definition": {"id": "x", "context": ${"[".repeat(inner)}${"]".repeat(inner)}}}`;
    };
    expect((await call("POST", validate, { body: nested(LIMITS.jsonDepth) })).status).toBe(200);
    const answer = await call("POST", validate, { body: nested(LIMITS.jsonDepth + 1) });
    expectProblem(answer, 422, "limit_exceeded");
    expect(answer.body.limit).toBe("jsonDepth");
    const hostile = "[".repeat(100_000) + "]".repeat(100_000);
    expectProblem(await call("POST", validate, { body: hostile }), 422, "limit_exceeded");
  });

  it("with data that nothing can keep is a 400 and changes nothing", async () => {
    const path = await spawnDoor();
    const before = (await call("GET", path)).body;
    for (const payload of [
      '{"text": "\\ud800"}',
      '{"\\udc00": 1}',
      '{"n": 1e999}',
      '{"ref": {"xstate$$type": 1, "id": "x"}}',
    ]) {
      const body = `{"type": "OPEN", "payload": ${payload}}`;
      expectProblem(await call("POST", `${path}/events`, { body }), 400, "invalid_request");
    }
    expectProblem(
      await call("POST", `${path}/events`, { body: '{"type": "\\ud800"}' }),
      400,
      "invalid_request",
    );
    expect((await call("GET", path)).body).toEqual(before);
  });

  it("with a field that is not known is a 400 that names it", async () => {
    const id = fresh("d");
    const body = { id, definition: { id: "x" }, parentID: "y", "a/b~c": 1 };
    const answer = await call("PUT", "/v1/definitions", { body });
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      "/parentID",
      "/a~1b~0c",
    ]);
    expectProblem(await call("GET", `/v1/definitions/${id}`), 404, "definition_not_found");
  });

  it("with 10,000 fields that are not known is answered shortly", async () => {
    const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, n]));
    const answer = await call("POST", validate, { body: { ...body, definition: {} } });
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.errors).toHaveLength(10);
    expect(answer.body.count).toBe(10_000);
    expect(JSON.stringify(answer.body).length).toBeLessThan(3_000);
    const long = { definition: {}, ["x".repeat(100_000)]: 1 };
    expect(JSON.stringify((await call("POST", validate, { body: long })).body).length).toBeLessThan(
      3_000,
    );
  });

  it("named __proto__ is one of them, and pollutes nothing", async () => {
    const body = '{"definition": {}, "__proto__": {"polluted": true}}';
    expectProblem(await call("POST", validate, { body }), 400, "unknown_field");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("that lacks what is needed says where", async () => {
    const answer = await call("PUT", "/v1/definitions", { body: { id: "a b" } });
    expectProblem(answer, 400, "invalid_request");
    expect(answer.body.errors).toEqual([
      { pointer: "/id", code: "invalid_format", message: expect.stringContaining("characters") },
      { pointer: "/definition", code: expect.any(String), message: expect.any(String) },
    ]);
  });
});

describe("a request id", () => {
  it("is echoed when it can be logged, and made when not", async () => {
    const sent = await call("GET", "/v1/health", { headers: { "X-Request-Id": "order-17/3" } });
    expect(sent.headers.get("X-Request-Id")).toBe("order-17/3");
    const made = (await call("GET", "/v1/health")).headers.get("X-Request-Id");
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    for (const bad of ["a b", "x".repeat(129), "<script>", '{"a":1}']) {
      const answer = await call("GET", "/v1/nothing", { headers: { "X-Request-Id": bad } });
      expect(answer.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("health", () => {
  it("is public and says the version", async () => {
    const answer = await call("GET", "/v1/health", { apiKey: null });
    expect(answer).toMatchObject({ status: 200, body: { status: "ok" } });
    expect((await call("HEAD", "/v1/health", { apiKey: null })).status).toBe(200);
  });
});

describe("a crash", () => {
  it("is a problem that says nothing about the inside, and is logged with the request id", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const crashing = createApp([
      route({
        method: "get",
        path: "/v1/crash",
        tag: "Test",
        name: "crash",
        summary: "Crashes",
        scope: "read",
        query: z.object({ token: z.string() }),
        answers: {},
        refusals: [],
        handle: () => Promise.reject(new Error("disk /var/secret is full")),
      }),
    ]);
    const request = new Request("http://perdure.test/v1/crash?token=hidden", {
      headers: { Authorization: "Bearer dev", "X-Request-Id": "r-1" },
    });
    const response = await crashing.fetch(request, env);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    expect(JSON.parse(text)).toMatchObject({ code: "internal_error", retryable: true });
    expect(text).not.toContain("secret");
    expect(text).toContain("r-1");
    const lines = log.mock.calls.map(([line]) => line as string);
    const ours = lines.filter((line) => JSON.parse(line).requestId === "r-1");
    expect(ours).toHaveLength(1);
    const line = ours[0] as string;
    expect(JSON.parse(line)).toMatchObject({
      path: "/v1/crash",
      message: "disk /var/secret is full",
    });
    expect(line).not.toMatch(/Bearer|hidden/);
    log.mockRestore();
  });
});

describe("a query", () => {
  it("with a limit out of bounds or a cursor of nobody is a 400", async () => {
    await deployDoor();
    for (const limit of ["0", "201", "-1", "1.5", "x", ""]) {
      const answer = await call("GET", `/v1/definitions?limit=${limit}`);
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.errors[0].pointer).toBe("/limit");
    }
    expect((await call("GET", "/v1/definitions?limit=200")).status).toBe(200);
    expectProblem(await call("GET", "/v1/definitions?cursor=made-up"), 400, "cursor_invalid");
  });
});
