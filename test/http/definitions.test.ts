import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, doorMachine, expectProblem, fresh, spawnOn } from "../support/api.ts";
import { until } from "../support/until.ts";

describe("a deploy over HTTP", () => {
  it("is 201, then 200 for the very same, then 409 for anything else", async () => {
    const family = fresh("door");
    const body = { id: `${family}-v1`, definition: doorMachine(family) };
    const first = await call("PUT", "/v1/definitions", { body });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ family, parentId: null, rule: null, idempotent: false });
    const again = await call("PUT", "/v1/definitions", { body });
    expect(again).toMatchObject({ status: 200, body: { ...first.body, idempotent: true } });

    await spawnOn(body.id);
    const other = { ...body, definition: doorMachine(family, { initial: "open" }) };
    const refused = await call("PUT", "/v1/definitions", { body: other });
    expectProblem(refused, 409, "definition_exists");
    expect(refused.body.differs.definition).toMatchObject({
      members: ["initial"],
      initialChanged: [{ state: "", from: "closed", to: "open" }],
    });
    const { definition } = (await call("GET", `/v1/definitions/${body.id}`)).body;
    expect(definition).toEqual(body.definition);
  });

  it("replaces a definition that no actor uses, in development", async () => {
    const family = fresh("door");
    const id = `${family}-v1`;
    await call("PUT", "/v1/definitions", { body: { id, definition: doorMachine(family) } });
    const definition = doorMachine(family, { initial: "open" });
    const answer = await call("PUT", "/v1/definitions", { body: { id, definition } });
    expect(answer).toMatchObject({ status: 200, body: { replaced: true, idempotent: false } });
    const path = await spawnOn(id);
    expect((await call("GET", path)).body.stateValue).toBe("open");
  });

  it("of an invalid definition lists everything wrong with it and stores nothing", async () => {
    const id = fresh("bad");
    const definition = {
      id: "bad",
      initial: "nowhere",
      states: { a: { on: { GO: "b" } }, c: { entry: { type: "unheardOf" } } },
    };
    const answer = await call("PUT", "/v1/definitions", { body: { id, definition } });
    expectProblem(answer, 422, "definition_invalid");
    expect(answer.body.errors.length).toBeGreaterThanOrEqual(3);
    for (const error of answer.body.errors) expect(error.pointer).toMatch(/^(\/|$)/);
    expectProblem(await call("GET", `/v1/definitions/${id}`), 404, "definition_not_found");
    const marked = { ...doorMachine("x"), context: { opened: 0, ref: { xstate$$type: 1 } } };
    expectProblem(
      await call("PUT", "/v1/definitions", { body: { id, definition: marked } }),
      422,
      "definition_invalid",
    );
  });

  it("that is too large names the limit", async () => {
    const description = "x".repeat(LIMITS.definitionBytes);
    const body = { id: fresh("big"), definition: doorMachine("big", { description }) };
    const answer = await call("PUT", "/v1/definitions", { body });
    expectProblem(answer, 422, "limit_exceeded");
    expect(answer.body.limit).toBe("definitionBytes");
  });

  it("with a parent records the descent; nobody moves", async () => {
    const family = fresh("door");
    const v1 = { id: `${family}-v1`, definition: doorMachine(family) };
    await call("PUT", "/v1/definitions", { body: v1 });
    const path = await spawnOn(v1.id);
    const v2 = {
      id: `${family}-v2`,
      definition: doorMachine(family, { initial: "open" }),
      parentId: v1.id,
    };
    const answer = await call("PUT", "/v1/definitions", { body: v2 });
    expect(answer).toMatchObject({ status: 201, body: { parentId: v1.id, rule: null } });
    expect(answer.body.warnings.at(-1).code).toBe("lineage_only");
    expect(answer.body.warnings.at(-1).message).toContain("historyPath");
    expect((await call("GET", path)).body.definitionId).toBe(v1.id);
    const byFamily = await call("POST", "/v1/actors", { body: { definitionId: family } });
    expect(byFamily.body).toMatchObject({ definitionId: v1.id, requestedAs: family });
  });

  it("under an unknown parent or one of another family is refused", async () => {
    const parentId = await deployDoor();
    const family = fresh("gate");
    const body = { id: family, definition: doorMachine(family) };
    const unknown = await call("PUT", "/v1/definitions", { body: { ...body, parentId: "no" } });
    expectProblem(unknown, 404, "parent_not_found");
    const other = await call("PUT", "/v1/definitions", { body: { ...body, parentId } });
    expectProblem(other, 422, "family_mismatch");
    expectProblem(await call("GET", `/v1/definitions/${family}`), 404, "definition_not_found");
  });

  it("needs an id that can be one", async () => {
    for (const id of ["", "a b", "a/b", "ä", "x".repeat(201), 5, null]) {
      const body = { id, definition: doorMachine("door") };
      expectProblem(await call("PUT", "/v1/definitions", { body }), 400, "invalid_request");
    }
    const id = "x".repeat(200);
    expect(
      (await call("PUT", "/v1/definitions", { body: { id, definition: doorMachine("door") } }))
        .status,
    ).toBe(201);
  });

  it("of a machine that would run for ever or for minutes is refused or bounded", async () => {
    const looping = doorMachine(fresh("loop"), {
      initial: "a",
      states: { a: { always: "b" }, b: { always: "a" } },
    });
    const body = { id: fresh("loop"), definition: looping };
    expectProblem(await call("PUT", "/v1/definitions", { body }), 422, "definition_invalid");
  });
});

describe("retiring a definition", () => {
  it("takes its name out of use for ever", async () => {
    const id = await deployDoor();
    expect((await call("DELETE", `/v1/definitions/${id}`)).status).toBe(204);
    expectProblem(await call("GET", `/v1/definitions/${id}`), 404, "definition_not_found");
    expectProblem(await call("DELETE", `/v1/definitions/${id}`), 404, "definition_not_found");
    const body = { id, definition: doorMachine("door") };
    expectProblem(await call("PUT", "/v1/definitions", { body }), 409, "definition_exists");
    const spawn = { body: { definitionId: id } };
    expectProblem(await call("POST", "/v1/actors", spawn), 404, "definition_not_found");
  });

  it("is refused while an actor that has not ended stands on it", async () => {
    const id = await deployDoor();
    const path = await spawnOn(id);
    const refused = await call("DELETE", `/v1/definitions/${id}`);
    expectProblem(refused, 409, "definition_in_use");
    expect(refused.body.unfinished).toBe(1);
    expect((await call("GET", `/v1/definitions/${id}`)).status).toBe(200);
    await call("POST", `${path}/events`, { body: { type: "DEMOLISH" } });
    const retired = await until(
      () => call("DELETE", `/v1/definitions/${id}`),
      ({ status }) => status === 204,
    );
    expect(retired.status).toBe(204);
    // What ended on it can still be read, counted and played again.
    expect((await call("GET", path)).body.status).toBe("done");
    expect((await call("GET", `/v1/definitions/${id}/stats`)).body.total).toBe(1);
    const spawn = { body: { definitionId: id } };
    expectProblem(await call("POST", "/v1/actors", spawn), 404, "definition_not_found");
  });
});

describe("replacing a definition in development", () => {
  it("waits for its last actor to be deleted, then the next spawn has the new one", async () => {
    const family = fresh("door");
    const id = `${family}-v1`;
    const put = (initial: string) =>
      call("PUT", "/v1/definitions", {
        body: { id, definition: doorMachine(family, { initial }) },
      });
    expect((await put("closed")).status).toBe(201);
    const path = await spawnOn(id);
    await call("POST", `${path}/events`, { body: { type: "DEMOLISH" } });
    expectProblem(await put("open"), 409, "definition_exists");
    expect((await call("DELETE", path)).status).toBe(204);
    const replaced = await until(
      () => put("open"),
      ({ status }) => status === 200,
    );
    expect(replaced.body).toMatchObject({ replaced: true });
    expect((await call("GET", await spawnOn(id))).body.stateValue).toBe("open");
  });
});

describe("validating a definition", () => {
  it("says what the check found, for good ones and bad ones alike", async () => {
    const good = await call("POST", "/v1/definitions/validate", {
      body: { definition: doorMachine("door") },
      key: null,
    });
    expect(good).toMatchObject({
      status: 200,
      body: { valid: true, errors: [], initialState: "closed" },
    });
    expect(good.body.states).toEqual(["closed", "open", "locked", "gone"]);
    expect(good.body.events).toEqual(["CLOSE", "DEMOLISH", "LOCK", "OPEN", "UNLOCK"]);

    const bad = await call("POST", "/v1/definitions/validate", {
      body: { definition: { states: { xstate$$type: 5 } } },
    });
    expect(bad).toMatchObject({ status: 200, body: { valid: false, initialState: null } });
    expect(bad.body.errors.length).toBeGreaterThan(0);
  });
});

describe("a scenario", () => {
  const scenarios = [
    {
      name: "a door closes by itself",
      events: ["OPEN", { advanceMs: 60_000 }, { type: "LOCK", payload: { by: "me" } }],
      expectedStates: ["open", "closed", "locked"],
    },
    { name: "a new door locks", events: ["LOCK"], expectedStates: ["locked"] },
    { name: "a door goes", events: ["DEMOLISH"], expectDone: true },
  ];

  it("plays on a definition that is not deployed and stores nothing", async () => {
    const definition = doorMachine(fresh("door"));
    const answer = await call("POST", "/v1/definitions/scenario", {
      body: { definition, scenarios },
      key: null,
    });
    expect(answer).toMatchObject({ status: 200, body: { passed: 2, failed: 1 } });
    expect(answer.body.results.map((result: { passed: boolean }) => result.passed)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("plays on one that is, without using it", async () => {
    const definitionId = await deployDoor();
    const body = { definitionId, scenarios };
    const answer = await call("POST", "/v1/definitions/scenario", { body });
    expect(answer.body).toMatchObject({ passed: 2, failed: 1 });
    expect((await call("DELETE", `/v1/definitions/${definitionId}`)).status).toBe(204);
  });

  it("says of each event whether it was handled, so that a typo is seen", async () => {
    const events = ["OPNE", "OPEN", { advanceMs: 1 }];
    const body = {
      definition: doorMachine(fresh("door")),
      scenarios: [{ name: "a typo", events }],
    };
    const { results } = (await call("POST", "/v1/definitions/scenario", { body })).body;
    expect(results[0].steps).toMatchObject([
      { event: "OPNE", stateValue: "closed", handled: false, reason: "no_transition" },
      { event: "OPEN", stateValue: "open", handled: true },
      { event: { advanceMs: 1 }, stateValue: "open", handled: null },
    ]);
    expect(results[0].steps[1]).not.toHaveProperty("reason");
  });

  it("plays what comes of activities, which nobody carries out", async () => {
    const charge = {
      id: "charge",
      src: "http",
      input: { url: "https://pay.example/", deadlineMs: 60_000 },
      compensate: { src: "http", input: { url: "https://pay.example/" } },
      onDone: { target: "asking", guard: { "@expr": "event.output.status == 200" } },
    };
    const ask = {
      id: "ask",
      src: "approval",
      input: { assignee: "ann", title: "Ship?" },
      onDone: { target: "undoing", guard: { "@expr": "!event.output.approved" } },
      onError: "late",
    };
    const definition = {
      id: fresh("shop"),
      initial: "paying",
      states: {
        paying: { invoke: charge },
        asking: { invoke: ask },
        undoing: { invoke: { id: "undo", src: "compensate", onDone: "undone", onError: "stuck" } },
        undone: { type: "final" },
        late: { type: "final" },
        stuck: { on: { GIVE_UP: "late" } },
      },
    };
    const paid = { done: "charge", output: { status: 200, headers: {}, body: null } };
    const no = { done: "ask", output: { approved: false, by: "ann", comment: null } };
    const refused = { failed: "charge", error: { code: "http_status", status: 402 } };
    const play = async (...events: unknown[]) => {
      const body = { definition, scenarios: [{ name: "s", events }] };
      return (await call("POST", "/v1/definitions/scenario", { body })).body.results[0];
    };
    const states = ({ steps }: { steps: { stateValue: string }[] }) =>
      steps.map(({ stateValue }) => stateValue);
    const undone = await play(paid, no, { done: "charge" });
    expect(undone).toMatchObject({ passed: true, done: true });
    expect(states(undone)).toEqual(["asking", "undoing", "undone"]);
    expect(states(await play(paid, no, refused))).toEqual(["asking", "undoing", "stuck"]);
    expect(states(await play(paid, { advanceMs: 7 * 86_400_000 }))).toEqual(["asking", "late"]);
    expect((await play({ ...paid, output: { status: 204 } })).steps).toMatchObject([
      { stateValue: "paying", handled: false, reason: "guard_false" },
    ]);
    expect((await play(refused)).steps).toMatchObject([
      { event: refused, stateValue: "paying", handled: false, reason: "nobody" },
    ]);
    expect(await play({ done: "charge" })).toMatchObject({
      passed: false,
      error: expect.stringContaining("output"),
    });
    expect(await play(no)).toMatchObject({
      passed: false,
      error: "The activity 'ask' does not run; it is 'charge' that does.",
    });
    expect(await play(paid, no, { done: "charge" }, { done: "x" })).toMatchObject({
      error: "The machine is done before 'x'.",
    });
    const scenarios = [{ name: "s", events: [{ ...paid, error: {} }] }];
    const answer = await call("POST", "/v1/definitions/scenario", {
      body: { definition, scenarios },
    });
    expectProblem(answer, 400, "unknown_field");
    expect(answer.body.detail).toContain("does not go with");
  });

  it("needs exactly one machine, a valid one, and bounded scenarios", async () => {
    const path = "/v1/definitions/scenario";
    const definition = doorMachine("door");
    const play = (body: object) => call("POST", path, { body: { scenarios, ...body } });
    expectProblem(await play({}), 400, "invalid_request");
    expectProblem(await play({ definition, definitionId: "d" }), 400, "invalid_request");
    expectProblem(await play({ definitionId: "nothing" }), 404, "definition_not_found");
    expectProblem(await play({ definition: {} }), 422, "definition_invalid");
    expectProblem(await play({ definition, scenarios: [] }), 400, "invalid_request");
    const events = (n: number) => ({
      definition,
      scenarios: [{ name: "s", events: Array(n).fill("OPEN") }],
    });
    expect((await play(events(LIMITS.eventsPerScenario))).status).toBe(200);
    expectProblem(await play(events(LIMITS.eventsPerScenario + 1)), 422, "limit_exceeded");
    const many = (n: number) => ({
      definition,
      scenarios: Array.from({ length: n }, () => ({ name: "s", events: [] })),
    });
    expect((await play(many(LIMITS.scenariosPerCall))).status).toBe(200);
    expectProblem(await play(many(LIMITS.scenariosPerCall + 1)), 422, "limit_exceeded");
    expectProblem(
      await play({ definition, scenarios: [{ name: "s", events: [{ advanceMs: -1 }] }] }),
      400,
      "invalid_request",
    );
  });

  it("sends no event that a caller could not send", async () => {
    const play = (event: unknown) =>
      call("POST", "/v1/definitions/scenario", {
        body: { definition: doorMachine("door"), scenarios: [{ name: "s", events: [event] }] },
      });
    for (const event of ["xstate.after.60000.door.open", "@timer:open:60000", "!X", "*"]) {
      for (const [given, pointer] of [
        [event, "/scenarios/0/events/0"],
        [{ type: event }, "/scenarios/0/events/0/type"],
      ] as [unknown, string][]) {
        const answer = await play(given);
        expectProblem(answer, 400, "event_type_reserved");
        expect(answer.body.errors).toMatchObject([{ pointer }]);
      }
    }
    expectProblem(await play({ type: "OPEN", payload: { type: "X" } }), 400, "invalid_request");
  });
});

describe("comparing definitions", () => {
  it("says what one has that the other has not", async () => {
    const against = await deployDoor();
    const family = fresh("door");
    const definition = doorMachine(family, {
      initial: "ajar",
      states: { ajar: { on: { CLOSE: "closed" } }, closed: { type: "final" } },
    });
    await call("PUT", "/v1/definitions", { body: { id: family, definition } });
    const answer = await call("GET", `/v1/definitions/${family}/diff?against=${against}`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        statesAdded: ["ajar"],
        initialChanged: [{ state: "", from: "closed", to: "ajar" }],
      },
    });
    expect(answer.body.statesRemoved).toEqual(expect.arrayContaining(["locked", "gone"]));
  });

  it("needs two that exist", async () => {
    const id = await deployDoor();
    expectProblem(await call("GET", `/v1/definitions/${id}/diff`), 400, "invalid_request");
    expectProblem(
      await call("GET", `/v1/definitions/${id}/diff?against=nothing`),
      404,
      "definition_not_found",
    );
    expectProblem(
      await call("GET", `/v1/definitions/nothing/diff?against=${id}`),
      404,
      "definition_not_found",
    );
  });
});

describe("the list of definitions", () => {
  let apiKey: string;

  beforeAll(async () => {
    const body = { label: "lists", scopes: ["admin"], tenant: fresh("t").slice(0, 30) };
    apiKey = (await call("POST", "/v1/keys", { body })).body.key;
  });

  it("goes through all of them in pages, newest first", async () => {
    const empty = await call("GET", "/v1/definitions", { apiKey });
    expect(empty.body).toMatchObject({ items: [], nextCursor: null });
    const deployed: string[] = [];
    for (let n = 0; n < 5; n++) deployed.push(await deployDoor({ apiKey }));
    const seen: string[] = [];
    let cursor = "";
    do {
      const query = `limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await call("GET", `/v1/definitions?${query}`, { apiKey });
      seen.push(...body.items.map(({ id }: { id: string }) => id));
      expect(body.items[0]).not.toHaveProperty("definition");
      cursor = body.nextCursor ?? "";
    } while (cursor);
    expect(seen).toEqual(deployed.toReversed());
  });
});
