import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh, spawnDoor, spawnOn } from "../support/api.ts";
import type { CallOptions } from "../support/api.ts";

function send(path: string, body: unknown, options: CallOptions = {}) {
  return call("POST", `${path}/events`, { body, ...options });
}

async function unchanged(path: string, act: () => Promise<void>): Promise<void> {
  const before = (await call("GET", path)).body;
  const log = (await call("GET", `${path}/events?limit=200`)).body;
  await act();
  expect((await call("GET", path)).body).toEqual(before);
  expect((await call("GET", `${path}/events?limit=200`)).body).toEqual(log);
}

describe("an event", () => {
  it("answers what became of the actor", async () => {
    const path = await spawnDoor();
    const answer = await send(path, { type: "OPEN", payload: { hand: "left" }, by: "me" });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        actorId: path.split("/").at(-1),
        seq: 2,
        actorSeq: 2,
        type: "OPEN",
        handled: true,
        stateValue: "open",
        tags: ["passable"],
        status: "active",
        done: false,
        migratedTo: null,
      },
    });
    expect(answer.body).not.toHaveProperty("actor");
    expect(answer.body).not.toHaveProperty("reason");
  });

  it("that is not handled says why, and what would be", async () => {
    const path = await spawnDoor();
    const unknown = await send(path, { type: "OPNE" });
    expect(unknown.body).toMatchObject({
      handled: false,
      reason: "no_transition",
      nextEvents: ["DEMOLISH", "LOCK", "OPEN"],
      seq: 2,
    });
    expect((await send(path, { type: "LOCK" })).body).toMatchObject({ reason: "guard_false" });
    for (const type of ["OPEN", "CLOSE", "LOCK"]) await send(path, { type });
    expect((await send(path, { type: "OPEN" })).body).toMatchObject({ reason: "forbidden" });
  });

  it("that is not handled is refused and not recorded when handling is strict", async () => {
    const path = await spawnDoor();
    const strict = { headers: { Prefer: "respond-async, Handling=Strict" } };
    await unchanged(path, async () => {
      const answer = await send(path, { type: "CLOSE" }, strict);
      expectProblem(answer, 409, "event_not_accepted");
      expect(answer.body).toMatchObject({
        reason: "no_transition",
        nextEvents: ["DEMOLISH", "LOCK", "OPEN"],
      });
    });
    expect((await send(path, { type: "OPEN" }, strict)).body.handled).toBe(true);
  });

  it("carries the actor when a representation is preferred, the present one in a replay", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const prefer = { key, headers: { Prefer: "return=representation; foo, handling=lenient" } };
    const first = await send(path, { type: "OPEN" }, prefer);
    expect(first.body.actor).toMatchObject({ stateValue: "open", seq: 2 });
    await send(path, { type: "CLOSE" });
    const again = await send(path, { type: "OPEN" }, prefer);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toMatchObject({
      stateValue: "open",
      actor: { stateValue: "closed", seq: 3 },
    });
    const plain = await send(path, { type: "OPEN" }, { key });
    expect(plain.body).toEqual({ ...first.body, actor: undefined });
  });

  it("is refused past the actor's ETag", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      const stale = { headers: { "If-Match": '"5"' } };
      expectProblem(await send(path, { type: "OPEN" }, stale), 412, "seq_mismatch");
      const malformed = { headers: { "If-Match": "5" } };
      expectProblem(await send(path, { type: "OPEN" }, malformed), 400, "invalid_request");
    });
    const present = { headers: { "If-Match": '"1"' } };
    expect((await send(path, { type: "OPEN" }, present)).status).toBe(200);
  });

  it("of a reserved type is a 400 and changes nothing", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      for (const type of [
        "xstate.init",
        "xstate.after.60000.door.open",
        "xstate.done.state.door",
        "@timer:open:60000",
        "!OPEN",
        "*",
      ]) {
        expectProblem(await send(path, { type }), 400, "event_type_reserved");
        expectProblem(
          await call("POST", `${path}/events/batch`, { body: { events: [{ type }] } }),
          400,
          "event_type_reserved",
        );
        expectProblem(
          await call("POST", `${path}/schedule`, { body: { type, delayMs: 1 } }),
          400,
          "event_type_reserved",
        );
      }
    });
  });

  it("of a bad request changes nothing", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      for (const body of [
        {},
        { type: "" },
        { type: 5 },
        { type: "x".repeat(LIMITS.eventTypeChars + 1) },
        { type: "OPEN", payload: [] },
        { type: "OPEN", payload: "x" },
        { type: "OPEN", payload: { type: "CLOSE" } },
        { type: "OPEN", by: "" },
        { type: "OPEN", by: "x".repeat(LIMITS.textChars + 1) },
      ]) {
        expectProblem(await send(path, body), 400, "invalid_request");
      }
      expectProblem(await send(path, { type: "OPEN", pay: {} }), 400, "unknown_field");
      expectProblem(await send(path, "{"), 400, "invalid_json");
    });
    expect((await send(path, { type: "x".repeat(LIMITS.eventTypeChars) })).status).toBe(200);
    expect((await send(path, { type: "OPEN", payload: null })).status).toBe(200);
  });

  it("keeps keys like __proto__ in its payload as data", async () => {
    const path = await spawnDoor();
    const payload = '{"__proto__": {"a": 1}, "constructor": 2, "toString": null}';
    await send(path, `{"type": "OPEN", "payload": ${payload}}`);
    const { items } = (await call("GET", `${path}/events`)).body;
    expect(JSON.stringify(items[1].payload)).toBe(JSON.stringify(JSON.parse(payload)));
  });

  it("for an actor that does not exist, or is over, is refused", async () => {
    expectProblem(await send("/v1/actors/nobody", { type: "OPEN" }), 404, "actor_not_found");
    expectProblem(await send("/v1/actors/ref:a:b", { type: "OPEN" }), 404, "ref_not_found");
    const path = await spawnDoor();
    await send(path, { type: "DEMOLISH" });
    await unchanged(path, async () => {
      const answer = await send(path, { type: "OPEN" });
      expectProblem(answer, 409, "actor_not_active");
      expect(answer.body.actorStatus).toBe("done");
    });
  });

  it("whose expression fails is a 422 with its pointer, and nothing is recorded", async () => {
    const family = fresh("sum");
    const definition = {
      id: family,
      initial: "a",
      context: { n: 0 },
      states: {
        a: {
          on: {
            ADD: {
              actions: {
                type: "@xstate.assign",
                context: { n: { "@expr": "context.n + event.n" } },
              },
            },
          },
        },
      },
    };
    await call("PUT", "/v1/definitions", { body: { id: family, definition } });
    const path = await spawnOn(family);
    const key = fresh("key");
    await unchanged(path, async () => {
      const answer = await send(path, { type: "ADD", payload: { n: "one" } }, { key });
      expectProblem(answer, 422, "expression_failed");
      expect(answer.body.errors[0].pointer).toContain("/states/a/on/ADD");
    });
    const mended = await send(path, { type: "ADD", payload: { n: 1 } }, { key });
    expect(mended).toMatchObject({ status: 200, body: { handled: true } });
  });
});

describe("an Idempotency-Key", () => {
  it("makes an event act once, and gives its first answer again", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const first = await send(path, { type: "OPEN" }, { key });
    await send(path, { type: "CLOSE" });
    const again = await send(path, { type: "OPEN" }, { key });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await call("GET", path)).body.context.opened).toBe(1);
  });

  it("is the same bare, quoted, in the body, and however the path is escaped", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const first = await send(path, { type: "OPEN" }, { key: `"${key}"` });
    for (const [body, header] of [
      [{ type: "OPEN" }, key],
      [{ type: "OPEN", idempotencyKey: key }, null],
      [{ idempotencyKey: key, type: "OPEN" }, key],
      [{ idempotencyKey: key, type: "OPEN" }, `"${key}"`],
    ] as const) {
      const again = await send(path, body, { key: header });
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    }
    const escapedPath = path.replace("/v1/actors/a", "/v1/actors/%61");
    const elsewhere = await send(escapedPath, { type: "OPEN" }, { key });
    expect(elsewhere.body).toEqual(first.body);
    const escaped = `quote"and\\slash`;
    const bare = await send(path, { type: "CLOSE" }, { key: escaped });
    const quoted = await send(path, { type: "CLOSE" }, { key: '"quote\\"and\\\\slash"' });
    expect(quoted.body.seq).toBe(bare.body.seq);
  });

  it("of another request is refused, whatever differs", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    await send(path, { type: "OPEN", payload: { a: 1 } }, { key });
    await unchanged(path, async () => {
      for (const body of [
        { type: "OPEN" },
        { type: "OPEN", payload: { a: 2 } },
        { type: "OPEN", payload: { a: 1 }, by: "x" },
      ]) {
        expectProblem(await send(path, body, { key }), 422, "idempotency_key_reused");
      }
      expectProblem(await call("POST", `${path}/pause`, { key }), 422, "idempotency_key_reused");
    });
    const other = { key, headers: { "If-Match": '"1"', Prefer: "handling=strict" } };
    const same = await send(path, { payload: { a: 1 }, type: "OPEN" }, other);
    expect(same.headers.get("Idempotent-Replayed")).toBe("true");
  });

  it("is an actor's own", async () => {
    const [one, other] = [await spawnDoor(), await spawnDoor()];
    const key = fresh("key");
    await send(one, { type: "OPEN" }, { key });
    const answer = await send(other, { type: "OPEN" }, { key });
    expect(answer.headers.get("Idempotent-Replayed")).toBeNull();
    expect(answer.body.seq).toBe(2);
  });

  it("that is missing or malformed is a 400 and changes nothing", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      const missing = await send(path, { type: "OPEN" }, { key: null });
      expectProblem(missing, 400, "idempotency_key_missing");
      expect(missing.body.detail).toMatch(/Idempotency-Key: [0-9a-f-]{36}$/);
      for (const key of [
        "",
        " ",
        "two words",
        '""',
        '"open',
        '"a"b"',
        '"a\\b"',
        "x".repeat(256),
        `"${"x".repeat(256)}"`,
      ]) {
        const answer = await send(path, { type: "OPEN" }, { key });
        expectProblem(answer, 400, "idempotency_key_invalid");
      }
      for (const idempotencyKey of ["", "two words", "ä", "x".repeat(256)]) {
        const answer = await send(path, { type: "OPEN", idempotencyKey }, { key: null });
        expectProblem(answer, 400, "idempotency_key_invalid");
      }
      const two = await send(path, { type: "OPEN", idempotencyKey: "a" }, { key: "b" });
      expectProblem(two, 400, "idempotency_key_invalid");
    });
    for (const key of ["x".repeat(255), "!", "~"]) {
      expect((await send(path, { type: "OPEN" }, { key })).status).toBe(200);
    }
  });

  it("sent twice at the same time acts once", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const answers = await Promise.all([1, 2, 3].map(() => send(path, { type: "OPEN" }, { key })));
    expect(new Set(answers.map(({ body }) => body.seq)).size).toBe(1);
    expect((await call("GET", path)).body.context.opened).toBe(1);
  });

  it("of a refused request can be used after mending", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    expectProblem(await send(path, { type: "@x" }, { key }), 400, "event_type_reserved");
    const stale = { key, headers: { "If-Match": '"9"' } };
    expectProblem(await send(path, { type: "OPEN" }, stale), 412, "seq_mismatch");
    const strict = { key, headers: { Prefer: "handling=strict" } };
    expectProblem(await send(path, { type: "CLOSE" }, strict), 409, "event_not_accepted");
    const answer = await send(path, { type: "OPEN" }, { key });
    expect(answer.body).toMatchObject({ handled: true, seq: 2 });
    expect(answer.headers.get("Idempotent-Replayed")).toBeNull();
  });
});

describe("a batch", () => {
  const batch = (path: string, events: object[], options: CallOptions = {}) =>
    call("POST", `${path}/events/batch`, { body: { events }, ...options });

  it("acts in order, once", async () => {
    const path = await spawnDoor();
    const key = fresh("key");
    const events = [{ type: "OPEN" }, { type: "CLOSE" }, { type: "LOCK", payload: { a: 1 } }];
    const first = await batch(path, events, { key });
    expect(first.status).toBe(200);
    expect(first.body.results.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3, 4]);
    const again = await batch(path, events, { key });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    const other = [...events].reverse();
    expectProblem(await batch(path, other, { key }), 422, "idempotency_key_reused");
  });

  it("knows an event that was sent alone, by its own key", async () => {
    const path = await spawnDoor();
    const [a, b] = [fresh("key"), fresh("key")];
    const alone = await send(path, { type: "OPEN", payload: { n: 1 } }, { key: a });
    const events = [
      { type: "OPEN", payload: { n: 1 }, idempotencyKey: a },
      { type: "CLOSE", idempotencyKey: b },
    ];
    const answer = await batch(path, events, { key: null });
    expect(answer.status).toBe(200);
    expect(answer.body.results[0]).toEqual(alone.body);
    expect(answer.body.results[1]).toMatchObject({ seq: 3, stateValue: "closed" });
    const later = await send(path, { type: "CLOSE" }, { key: b });
    expect(later.body).toEqual(answer.body.results[1]);
    const changed = [{ type: "OPEN", payload: { n: 2 }, idempotencyKey: a }];
    expectProblem(await batch(path, changed, { key: null }), 422, "idempotency_key_reused");
  });

  it("needs a key for each of its events", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      const events = [{ type: "OPEN", idempotencyKey: fresh("key") }, { type: "CLOSE" }];
      expectProblem(await batch(path, events, { key: null }), 400, "idempotency_key_missing");
      const malformed = [{ type: "OPEN", idempotencyKey: "a b" }];
      expectProblem(await batch(path, malformed), 400, "idempotency_key_invalid");
    });
  });

  it("is undone as a whole when one event fails, and says which", async () => {
    const path = await spawnDoor();
    await unchanged(path, async () => {
      const strict = { headers: { Prefer: "handling=strict" } };
      const answer = await batch(path, [{ type: "OPEN" }, { type: "OPEN" }], strict);
      expectProblem(answer, 409, "event_not_accepted");
      expect(answer.body.index).toBe(1);
      const stale = { headers: { "If-Match": '"4"' } };
      expectProblem(await batch(path, [{ type: "OPEN" }], stale), 412, "seq_mismatch");
    });
  });

  it("ends with the event that ends the actor", async () => {
    const path = await spawnDoor();
    const answer = await batch(path, [{ type: "DEMOLISH" }, { type: "OPEN" }]);
    expect(answer.body.results).toHaveLength(1);
    expect(answer.body.results[0].done).toBe(true);
  });

  it("has at most as many events as the limit says", async () => {
    const path = await spawnDoor();
    const events = (n: number) => Array.from({ length: n }, () => ({ type: "KNOCK" }));
    await unchanged(path, async () => {
      const answer = await batch(path, events(LIMITS.eventsPerBatch + 1));
      expectProblem(answer, 422, "limit_exceeded");
      expect(answer.body.limit).toBe("eventsPerBatch");
      expectProblem(await batch(path, []), 400, "invalid_request");
      expectProblem(await batch(path, [{ type: "OPEN", by: "x" }]), 400, "unknown_field");
    });
    const answer = await batch(path, events(LIMITS.eventsPerBatch));
    expect(answer.body.results).toHaveLength(LIMITS.eventsPerBatch);
  });
});

describe("the log", () => {
  it("goes through all records in pages, oldest first, or those of one kind", async () => {
    const path = await spawnDoor();
    for (const type of ["OPEN", "CLOSE", "OPEN", "CLOSE"]) await send(path, { type, by: "me" });
    const seen: number[] = [];
    let cursor = "";
    do {
      const { body } = await call("GET", `${path}/events?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ seq }: { seq: number }) => seq));
      cursor = body.nextCursor ?? "";
    } while (cursor);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    const later = await call("GET", `${path}/events?after=3`);
    expect(later.body.items.map(({ seq }: { seq: number }) => seq)).toEqual([4, 5]);
    expect(later.body.items[0]).toMatchObject({
      kind: "event",
      type: "OPEN",
      by: "me",
      principal: "dev",
      handled: true,
      stateValue: "open",
    });
    const kinds = await call("GET", `${path}/events?kind=spawned`);
    expect(kinds.body.items.map(({ seq }: { seq: number }) => seq)).toEqual([1]);
  });

  it("ends a page before it outgrows the limit of its bytes", async () => {
    const path = await spawnDoor();
    const pad = "x".repeat(1_000_000);
    for (let n = 0; n < 5; n += 1) await send(path, { type: "KNOCK", payload: { pad } });
    const first = (await call("GET", `${path}/events`)).body;
    expect(first.items.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3, 4, 5]);
    const rest = (await call("GET", `${path}/events?cursor=${first.nextCursor}`)).body;
    expect(rest.items.map(({ seq }: { seq: number }) => seq)).toEqual([6]);
    expect(rest.nextCursor).toBeNull();
  });

  it("refuses a query that makes no sense", async () => {
    const path = await spawnDoor();
    for (const query of ["limit=0", "limit=201", "after=-1", "kind=nothing"]) {
      expectProblem(await call("GET", `${path}/events?${query}`), 400, "invalid_request");
    }
    expectProblem(await call("GET", `${path}/events?cursor=made-up`), 400, "cursor_invalid");
    expectProblem(await call("GET", `${path}/timeline?cursor=made-up`), 400, "cursor_invalid");
    expectProblem(await call("GET", "/v1/actors/nobody/events"), 404, "actor_not_found");
    expectProblem(await call("GET", "/v1/actors/nobody/timeline"), 404, "actor_not_found");
  });
});

describe("the timeline", () => {
  it("says which states there were and how long", async () => {
    const path = await spawnDoor();
    for (const type of ["OPEN", "KNOCK", "CLOSE"]) await send(path, { type });
    const { body } = await call("GET", `${path}/timeline?limit=2`);
    expect(body.items).toMatchObject([
      { state: "closed", enteredSeq: 1, leftSeq: 2 },
      { state: "open", enteredSeq: 2, leftSeq: 4, by: "OPEN" },
    ]);
    const rest = await call("GET", `${path}/timeline?limit=2&cursor=${body.nextCursor}`);
    expect(rest.body).toMatchObject({
      items: [{ state: "closed", enteredSeq: 4, leftAt: null, durationMs: null }],
      nextCursor: null,
    });
  });
});
