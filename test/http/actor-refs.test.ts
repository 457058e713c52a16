import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, expectProblem, fresh } from "../support/api.ts";
import type { Answer, Body, CallOptions } from "../support/api.ts";
import { deployed } from "../support/actors.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

/** ms; what the directory promises, and the room that a busy machine needs. */
const PROMISED_MS = 1_000;

let definitionId: string;

beforeAll(async () => {
  definitionId = await deployDoor();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const at = (name: string, value: string) =>
  `/v1/actors/ref:${encodeURIComponent(name)}:${encodeURIComponent(value)}`;

async function spawn(refs: object, more: object = {}): Promise<Body> {
  const body = { definitionId, id: fresh("r"), refs, ...more };
  const answer = await call("POST", "/v1/actors", { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

/** Until the index answers so. */
async function found(path: string, status: number): Promise<Answer> {
  return await until(
    () => call("GET", path),
    (answer) => answer.status === status,
  );
}

async function send(path: string, type: string, options: CallOptions = {}): Promise<Answer> {
  return await call("POST", `${path}/events`, { body: { type }, ...options });
}

describe("an actor", () => {
  it("is found by the references of its spawn, of PATCH and of its own machine, and no longer by those it lost", async () => {
    const id = await deployed({
      initial: "on",
      states: {
        on: {
          on: {
            SET: { actions: { type: "@perdure.setRef", name: "own", value: "set" } },
            UNSET: { actions: { type: "@perdure.setRef", name: "own", value: null } },
          },
        },
      },
    });
    const unique = fresh("v");
    const actor = await spawn({ born: unique }, { definitionId: id });
    const begun = Date.now();
    expect((await found(at("born", unique), 200)).body.id).toBe(actor.id);
    expect(Date.now() - begun).toBeLessThan(20 * PROMISED_MS);

    await call("PATCH", `/v1/actors/${actor.id}`, { body: { refs: { patched: unique } } });
    expect((await found(at("patched", unique), 200)).body.id).toBe(actor.id);
    await call("PATCH", `/v1/actors/${actor.id}`, { body: { refs: { patched: null } } });
    expectProblem(await found(at("patched", unique), 404), 404, "ref_not_found");

    await send(`/v1/actors/${actor.id}`, "SET");
    const mine = await until(
      () => call("GET", `/v1/actors?ref.own=set&ref.born=${unique}`),
      ({ body }) => body.items.length === 1,
    );
    expect(mine.body.items.map((item: Body) => item.id)).toEqual([actor.id]);
    await send(`/v1/actors/${actor.id}`, "UNSET");
    const gone = await until(
      () => call("GET", `/v1/actors?ref.own=set&ref.born=${unique}`),
      ({ body }) => body.items.length === 0,
    );
    expect(gone.body.items).toEqual([]);
    expect((await call("DELETE", `/v1/actors/${actor.id}`)).status).toBe(204);
    expectProblem(await found(at("born", unique), 404), 404, "ref_not_found");
  });

  it("takes every call by a reference", async () => {
    const value = fresh("v");
    const { id } = await spawn({ order: value });
    const path = at("order", value);
    await found(path, 200);
    expect(await send(path, "OPEN")).toMatchObject({ status: 200, body: { actorId: id, seq: 2 } });
    const batch = await call("POST", `${path}/events/batch`, {
      body: { events: [{ type: "CLOSE" }, { type: "OPEN" }] },
    });
    expect(batch.body.results.map((one: Body) => one.actorId)).toEqual([id, id]);
    for (const below of ["", "/events", "/timeline", "/export", "/schedule", "/wait?state=open"]) {
      expect((await call("GET", `${path}${below}`)).status, below).toBe(200);
    }
    for (const below of ["/pause", "/resume"]) {
      expect((await call("POST", `${path}${below}`, { body: {} })).body.id, below).toBe(id);
    }
    const body = { type: "CLOSE", delayMs: 60_000 };
    const { timerId } = (await call("POST", `${path}/schedule`, { body })).body;
    expect((await call("DELETE", `${path}/schedule/${timerId}`)).status).toBe(204);
    expect((await call("POST", `${path}/replay`, { body: {}, key: null })).body).toEqual({
      identical: true,
    });
    const moved = { body: { ms: 1 }, key: null };
    expect((await call("POST", `${path}/clock/advance`, moved)).body.id).toBe(id);
    const patch = { body: { refs: { more: value } } };
    expect((await call("PATCH", path, patch)).body.refs).toEqual({ order: value, more: value });
    expect((await call("POST", `${path}/terminate`, { body: {} })).body.status).toBe("terminated");
    expect((await call("DELETE", path)).status).toBe(204);
    expectProblem(await found(path, 404), 404, "ref_not_found");
  });

  it.each([
    "a:b:c",
    "a/b//c",
    "100%",
    "%2F",
    "%25",
    "a b+c",
    "äöü €",
    "👩‍🚀",
    "?x=1#y",
    "..",
    "\n\t",
    '"\\',
    "x".repeat(LIMITS.refValueChars),
    "ü".repeat(LIMITS.refValueChars),
  ])("is found by the value %j", async (value) => {
    const name = fresh("n");
    const { id } = await spawn({ [name]: value });
    const path = at(name, value);
    expect((await found(path, 200)).body.id).toBe(id);
    expect((await send(path, "OPEN")).body.actorId).toBe(id);
    const list = await call("GET", `/v1/actors?ref.${name}=${encodeURIComponent(value)}`);
    expect(list.body.items.map((item: Body) => item.id)).toEqual([id]);
  });
});

describe("a reference in a path", () => {
  it.each([
    "ref:",
    "ref:order",
    "ref:order:",
    "ref::17",
    `ref:${"n".repeat(LIMITS.refNameChars + 1)}:1`,
    `ref:n:${"x".repeat(LIMITS.refValueChars + 1)}`,
    "ref:n:%zz",
    "ref:n:%ff",
    "ref:n:%",
  ])("%s is a 400", async (id) => {
    expectProblem(await call("GET", `/v1/actors/${id}`), 400, "invalid_request");
    expectProblem(await send(`/v1/actors/${id}`, "OPEN"), 400, "invalid_request");
  });

  it("that nobody has is a 404 worth repeating", async () => {
    const answer = await send(at("order", fresh("none")), "OPEN");
    expectProblem(answer, 404, "ref_not_found");
    expect(answer.body.retryable).toBe(true);
    expect(answer.headers.get("Retry-After")).toBe("1");
  });

  it("that several have is a 409 that names some, and nothing is done", async () => {
    const value = fresh("many");
    const ids = [];
    for (let n = 0; n < LIMITS.ambiguousShown + 2; n++) {
      const { id } = await spawn({ order: value });
      ids.push(id);
      if (n !== 1) continue;
      const two = await found(at("order", value), 409);
      expectProblem(two, 409, "ref_ambiguous");
      expect(two.body.actorIds.toSorted()).toEqual(ids.toSorted());
    }
    const full = await until(
      () => send(at("order", value), "OPEN"),
      ({ body }) => body.actorIds?.length === LIMITS.ambiguousShown,
    );
    expectProblem(full, 409, "ref_ambiguous");
    for (const shown of full.body.actorIds) expect(ids).toContain(shown);
    for (const id of ids) expect((await call("GET", `/v1/actors/${id}`)).body.seq).toBe(1);
  });

  it("is one tenant's", async () => {
    const value = fresh("v");
    await spawn({ order: value });
    await found(at("order", value), 200);
    const { apiKey } = await newTenant();
    const other = await call("GET", at("order", value), { apiKey });
    expectProblem(other, 404, "ref_not_found");
  });
});

describe("a key through a reference", () => {
  it("is that of the same request by id", async () => {
    const value = fresh("v");
    const { id } = await spawn({ order: value });
    const path = at("order", value);
    await found(path, 200);
    const key = fresh("key");
    const first = await send(path, "OPEN", { key });
    for (const repeat of [path, `/v1/actors/${id}`]) {
      const again = await send(repeat, "OPEN", { key });
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    }
    const events = [{ type: "CLOSE", idempotencyKey: fresh("own") }, { type: "OPEN" }];
    const batchKey = fresh("key");
    const batch = await call("POST", `${path}/events/batch`, { key: batchKey, body: { events } });
    const byId = await call("POST", `/v1/actors/${id}/events/batch`, {
      key: batchKey,
      body: { events },
    });
    expect(byId.body).toEqual(batch.body);
    const alone = await call("POST", `/v1/actors/${id}/events`, { key: null, body: events[0]! });
    expect(alone.body).toEqual(batch.body.results[0]);
  });

  it("is another event's where the reference has moved to another actor", async () => {
    const value = fresh("v");
    const one = await spawn({ order: value });
    const path = at("order", value);
    await found(path, 200);
    const key = fresh("key");
    expect((await send(path, "OPEN", { key })).body.actorId).toBe(one.id);
    await call("PATCH", `/v1/actors/${one.id}`, { body: { refs: { order: null } } });
    const two = await spawn({ order: value });
    const moved = await until(
      () => call("GET", path),
      ({ body }) => body.id === two.id,
    );
    expect(moved.body.id).toBe(two.id);
    const again = await send(path, "OPEN", { key });
    expect(again.body.actorId).toBe(two.id);
    expect(again.headers.get("Idempotent-Replayed")).toBeNull();
    // By id the first answer is still there.
    expect((await send(`/v1/actors/${one.id}`, "OPEN", { key })).body.actorId).toBe(one.id);
  });
});

it.each(["ref:mail:", "ref%3Amail%3A", "ref%3amail:"])(
  "a reference's value is in no log line about a failure: %s",
  async (prefix) => {
    await spawn({});
    const lines: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
    const getByName = () => {
      throw new Error("broken");
    };
    const broken = { REFS: { getByName } as never };
    const path = `/v1/actors/${prefix}some%3Aone%2Felse%40example.org`;
    const answer = await call("POST", `${path}/pause`, { env: broken });
    expectProblem(answer, 500, "internal_error");
    // What goes wrong in the background is of no request.
    const ours = lines.filter((line) => JSON.parse(line).path !== undefined);
    expect(ours).toHaveLength(1);
    expect(JSON.parse(ours[0] as string).path).toBe("/v1/actors/ref:mail:…/pause");
    expect(ours[0]).not.toMatch(/some|else|example/);
  },
);
