import { beforeAll, describe, expect, it } from "vitest";
import { call, deployDoor, doorMachine, expectProblem, fresh, spawnOn } from "../support/api.ts";

describe("two tenants", () => {
  const id = fresh("actor");
  const keys: string[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 2; n++) {
      const body = { label: "all", scopes: ["admin"], tenant: fresh("t").slice(0, 30) };
      keys.push((await call("POST", "/v1/keys", { body })).body.key);
    }
  });

  it("may use one id, one definition id and one key each without meeting", async () => {
    const key = fresh("key");
    const uids: string[] = [];
    for (const [n, apiKey] of keys.entries()) {
      const definition = doorMachine("door", { context: { opened: n } });
      const put = { apiKey, body: { id: "door-v1", definition } };
      expect((await call("PUT", "/v1/definitions", put)).status).toBe(201);
      const body = { id, definitionId: "door-v1" };
      const spawned = await call("POST", "/v1/actors", { apiKey, key, body });
      expect(spawned).toMatchObject({ status: 201, body: { context: { opened: n } } });
      uids.push(spawned.body.uid);
    }
    expect(new Set(uids).size).toBe(2);
    const [one] = keys;
    const open = { apiKey: one as string, body: { type: "OPEN" } };
    await call("POST", `/v1/actors/${id}/events`, open);
    const states = await Promise.all(
      keys.map((apiKey) => call("GET", `/v1/actors/${id}`, { apiKey })),
    );
    expect(states.map(({ body }) => body.stateValue)).toEqual(["open", "closed"]);
  });

  it("cannot read, change or delete what the other one has", async () => {
    const [ours, theirs] = keys as [string, string];
    const definitionId = await deployDoor({ apiKey: ours });
    const path = await spawnOn(definitionId, { apiKey: ours });
    const before = (await call("GET", path, { apiKey: ours })).body;
    for (const [method, target, body] of [
      ["GET", path],
      ["PATCH", path, { refs: { a: "b" } }],
      ["DELETE", path],
      ["POST", `${path}/events`, { type: "OPEN" }],
      ["POST", `${path}/events/batch`, { events: [{ type: "OPEN" }] }],
      ["GET", `${path}/events`],
      ["GET", `${path}/timeline`],
      ["GET", `${path}/wait?done=true`],
      ["GET", `${path}/export`],
      ["POST", `${path}/replay`],
      ["POST", `${path}/pause`],
      ["POST", `${path}/terminate`],
      ["POST", `${path}/schedule`, { type: "OPEN", delayMs: 5 }],
      ["GET", `${path}/schedule`],
      ["POST", `${path}/clock/advance`, { ms: 5 }],
    ] as const) {
      const answer = await call(method, target, { apiKey: theirs, ...(body ? { body } : {}) });
      expectProblem(answer, 404, "actor_not_found");
    }
    const spawn = { apiKey: theirs, body: { definitionId } };
    expectProblem(await call("POST", "/v1/actors", spawn), 404, "definition_not_found");
    for (const [method, target] of [
      ["GET", `/v1/definitions/${definitionId}`],
      ["DELETE", `/v1/definitions/${definitionId}`],
      ["GET", `/v1/definitions/${definitionId}/diff?against=${definitionId}`],
    ] as const) {
      expectProblem(await call(method, target, { apiKey: theirs }), 404, "definition_not_found");
    }
    const { items } = (await call("GET", "/v1/definitions", { apiKey: theirs })).body;
    expect(items.map((item: { id: string }) => item.id)).toEqual(["door-v1"]);
    expect((await call("GET", path, { apiKey: ours })).body).toEqual(before);
  });

  it("cannot be reached by an id that names the other one", async () => {
    const [ours] = keys as [string];
    const tenant = ours.split("_")[1];
    for (const name of [`${tenant}%2F${id}`, `..%2F${tenant}%2F${id}`]) {
      expectProblem(await call("GET", `/v1/actors/${name}`), 400, "invalid_request");
    }
    const body = { definitionId: `${tenant}/door-v1` };
    expectProblem(await call("POST", "/v1/actors", { body }), 400, "invalid_request");
  });
});
