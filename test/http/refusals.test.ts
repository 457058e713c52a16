import { describe, expect, it } from "vitest";
import { call, deployDoor, doorMachine, expectProblem, fresh, spawnDoor } from "../support/api.ts";

describe("a query parameter that is not known", () => {
  it("is refused with the near one and all that there are", async () => {
    const path = await spawnDoor();
    const answer = await call("GET", `${path}/wait?state=open&timeout=500`);
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.detail).toBe(
      "The query has 1 parameter that is not known here: 'timeout'. Did you mean 'timeoutMs'? Known are state, tag, done, seq, timeoutMs.",
    );
    expect(answer.body.errors[0].pointer).toBe("/timeout");
    const past = await call("GET", `${path}?att=1`);
    expectProblem(past, 400, "unknown_field");
    expect(past.body.detail).toContain("'att'. Known are at.");
  });

  it("is refused also where no parameter is known, and for other methods", async () => {
    const path = await spawnDoor();
    const listed = await call("GET", `${path}/schedule?limit=1`);
    expectProblem(listed, 400, "unknown_field");
    expect(listed.body.detail).toContain("No parameter is known here.");
    for (const [method, at] of [
      ["GET", "/v1/definitions?max=1"],
      ["GET", "/v1/keys?x=1"],
      ["GET", `${path}/events?kinds=event`],
      ["GET", `${path}/timeline?kind=event`],
      ["GET", `${path}/export?x=1`],
      ["DELETE", `${path}?force=true`],
    ] as const) {
      expectProblem(await call(method, at), 400, "unknown_field");
    }
    expect((await call("GET", path)).status).toBe(200);
  });

  it("is let be by the open routes and by those of later versions", async () => {
    for (const query of ["probe=1", "probe=1&probe=2", "__proto__=1&__proto__=2"]) {
      expect((await call("GET", `/v1/health?${query}`, { apiKey: null })).status).toBe(200);
    }
    expectProblem(await call("GET", "/docs?page=one"), 501, "not_yet");
  });
});

describe("a field that is not known", () => {
  it("of an event is named and sent into the payload", async () => {
    const path = await spawnDoor();
    const answer = await call("POST", `${path}/events`, { body: { type: "OPEN", amount: 80 } });
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.detail).toBe(
      "The body has 1 field that is not known here: 'amount'. What belongs to the event goes into `payload`. Known are type, payload, by, idempotencyKey.",
    );
    const events = [{ type: "OPEN" }, { type: "OPEN", amount: 80 }];
    const batch = await call("POST", `${path}/events/batch`, { body: { events } });
    expectProblem(batch, 400, "unknown_field");
    expect(batch.body.detail).toContain("'amount' in /events/1");
    expect(batch.body.detail).toContain("Known are type, payload, idempotencyKey.");
  });

  it("of a bare machine says how to wrap it", async () => {
    const body = doorMachine(fresh("door"));
    const answer = await call("PUT", "/v1/definitions", { body });
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.detail).toContain('wrap it: {"id": …, "definition": {…}}');
    expect(answer.body.errors).toContainEqual({
      pointer: "/definition",
      code: "required",
      message: "is required",
    });
    const checked = await call("POST", "/v1/definitions/validate", { body });
    expect(checked.body.detail).toContain('wrap it: {"definition": {…}}');
  });

  it("is answered with the one that was meant", async () => {
    const definitionId = await deployDoor();
    const path = await spawnDoor();
    for (const [at, body, near] of [
      ["/v1/actors", { definition: definitionId }, "definitionId"],
      ["/v1/actors", { definitionId, ref: { order: "1" } }, "refs"],
      [`${path}/schedule`, { type: "OPEN", delay: 5 }, "delayMs"],
    ] as const) {
      const answer = await call("POST", at, { body });
      expectProblem(answer, 400, "unknown_field");
      expect(answer.body.detail).toContain(`Did you mean '${near}'?`);
    }
    const listed = await call("GET", "/v1/actors?refs.order=1");
    expectProblem(listed, 400, "unknown_field");
    expect(listed.body.detail).toContain("Did you mean 'ref.order'?");
  });
});

describe("what does not fit", () => {
  it("is said in sentences of our own", async () => {
    const path = await spawnDoor();
    const zods = /Too (?:small|big)|Invalid (?:input|option)|expected|received| {2}/;
    for (const [method, at, body, said] of [
      ["POST", "/v1/actors", {}, "The body does not fit: /definitionId is required."],
      ["POST", "/v1/actors", [], "The body must be a JSON object."],
      ["POST", "/v1/actors", { definitionId: 1 }, "/definitionId must be a string"],
      ["POST", "/v1/definitions/validate", {}, "/definition is required"],
      ["POST", `${path}/schedule`, { type: "A" }, "The body needs exactly one of delayMs and at."],
      ["POST", `${path}/schedule`, { type: "A", delayMs: -1 }, "/delayMs must be at least 0"],
      ["POST", `${path}/schedule`, { type: "A", delayMs: 0.5 }, "/delayMs must be a whole number"],
      ["POST", `${path}/events`, { type: "" }, "/type must not be empty"],
      ["POST", `${path}/events`, { type: "A", payload: [] }, "/payload must be a JSON object"],
      ["POST", `${path}/events/batch`, { events: [] }, "/events must have at least 1 item"],
      ["GET", `${path}/events?limit=0`, undefined, "/limit must be at least 1"],
      ["GET", `${path}/events?kind=evnt`, undefined, "Did you mean 'event'?"],
      ["GET", `${path}/wait`, undefined, "The query needs exactly one of"],
    ] as const) {
      const answer = await call(method, at, { body });
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toContain(said);
      expect(answer.body.detail).not.toMatch(zods);
      for (const { message } of answer.body.errors) expect(message).not.toMatch(zods);
    }
  });
});
