import { env } from "cloudflare:workers";
import { listDurableObjectIds } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { DEFAULT_TENANT, actorObjectName } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { createApp } from "../../src/http/app.ts";
import {
  call,
  deployDoor,
  doorMachine,
  expectProblem,
  fresh,
  spawnDoor,
  spawnOn,
} from "../support/api.ts";

const spawn = (body: object, options: object = {}) =>
  call("POST", "/v1/actors", { body, ...options });

/** Those of these actors whose objects there are. */
async function woken(ids: string[]): Promise<string[]> {
  const namespace = env.ACTORS as unknown as DurableObjectNamespace;
  const all = new Set((await listDurableObjectIds(namespace)).map(String));
  return ids.filter((id) =>
    all.has(String(namespace.idFromName(actorObjectName(DEFAULT_TENANT, id)))),
  );
}

describe("a spawn", () => {
  it("answers the actor, where it is, and its ETag", async () => {
    const definitionId = await deployDoor();
    const id = fresh("actor");
    const answer = await spawn({
      definitionId,
      id,
      context: { opened: 3, extra: true },
      refs: { order: "o-1" },
      by: "someone",
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("Location")).toBe(`/v1/actors/${id}`);
    expect(answer.headers.get("ETag")).toBe('"1"');
    expect(answer.headers.get("Idempotent-Replayed")).toBeNull();
    expect(answer.body).toMatchObject({
      id,
      definitionId,
      stateValue: "closed",
      context: { opened: 3, extra: true },
      refs: { order: "o-1" },
      status: "active",
      seq: 1,
      historyLength: 0,
      nextEvents: ["DEMOLISH", "LOCK", "OPEN"],
    });
    expect(answer.body).not.toHaveProperty("requestedAs");
    const read = await call("GET", `/v1/actors/${id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers.get("ETag")).toBe('"1"');
  });

  it("without an id derives one from the key, so that a repeat finds the same actor", async () => {
    const definitionId = await deployDoor();
    const key = fresh("key");
    const first = await spawn({ definitionId }, { key });
    expect(first.body.id).toMatch(/^a_[0-9a-f]{32}$/);
    await call("POST", `/v1/actors/${first.body.id}/events`, { body: { type: "OPEN" } });
    const again = await spawn({ definitionId }, { key });
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.headers.get("Location")).toBe(first.headers.get("Location"));
    expectProblem(await spawn({ definitionId, by: "x" }, { key }), 422, "idempotency_key_reused");
    const quoted = await spawn({ definitionId }, { key: `"${key}"` });
    expect(quoted.body.id).toBe(first.body.id);
  });

  it("twice at the same time makes one actor", async () => {
    const definitionId = await deployDoor();
    const key = fresh("key");
    const answers = await Promise.all([1, 2, 3].map(() => spawn({ definitionId }, { key })));
    expect(new Set(answers.map(({ body }) => body.uid)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  it("under a taken id is refused and changes nothing", async () => {
    const definitionId = await deployDoor();
    const id = fresh("actor");
    const first = await spawn({ definitionId, id });
    expectProblem(await spawn({ definitionId, id, context: { opened: 9 } }), 409, "actor_exists");
    expect((await call("GET", `/v1/actors/${id}`)).body).toEqual(first.body);
  });

  it("on an unknown definition is refused, and the key can be used after mending", async () => {
    const key = fresh("key");
    const refused = await spawn({ definitionId: "nothing" }, { key });
    expectProblem(refused, 404, "definition_not_found");
    const definitionId = await deployDoor();
    expect((await spawn({ definitionId }, { key })).status).toBe(201);
  });

  it("of a bad request wakes no actor", async () => {
    const definitionId = await deployDoor();
    const there = (await spawnOn(definitionId)).split("/").at(-1) as string;
    const ids = [there];
    const refused = (body: object, options = {}) => {
      const named = { id: fresh("no"), ...body };
      ids.push(named.id);
      return spawn(named, options);
    };
    for (const body of [
      {},
      { definitionId: "a b" },
      { definitionId, id: "." },
      { definitionId, id: ".." },
      { definitionId, id: "count" },
      { definitionId, id: "bulk" },
      { definitionId, id: "ref:order:1" },
      { definitionId, id: "a/b" },
      { definitionId, id: "" },
      { definitionId, id: "x".repeat(201) },
      { definitionId, context: [] },
      { definitionId, context: "x" },
      { definitionId, refs: { order: 5 } },
      { definitionId, refs: { ["n".repeat(LIMITS.refNameChars + 1)]: "v" } },
      { definitionId, refs: { n: "v".repeat(LIMITS.refValueChars + 1) } },
      { definitionId, snapshot: 5 },
      { definitionId, by: "" },
      { definitionId, by: "x".repeat(LIMITS.textChars + 1) },
    ]) {
      expectProblem(await refused(body), 400, "invalid_request");
    }
    expectProblem(await refused({ definitionId, contxt: {} }), 400, "unknown_field");
    expectProblem(await refused({ definitionId, idempotencyKey: "k" }), 400, "unknown_field");
    expectProblem(await refused({ definitionId }, { key: null }), 400, "idempotency_key_missing");
    expect(await woken(ids)).toEqual([there]);
  });

  it("adopts a snapshot that fits and refuses one that does not", async () => {
    const definitionId = await deployDoor();
    const snapshot = { value: "open", context: { opened: 4 } };
    const adopted = await spawn({ definitionId, snapshot });
    expect(adopted.body).toMatchObject({ stateValue: "open", context: { opened: 4 } });
    expect(adopted.body.timers).toHaveLength(1);
    const misfit = await spawn({ definitionId, snapshot: { value: "ajar", context: {} } });
    expectProblem(misfit, 422, "snapshot_invalid");
  });

  it("whose expression fails is refused and leaves no actor", async () => {
    const family = fresh("door");
    const definition = doorMachine(family, {
      context: { opened: { "@expr": "input.opened + 1" } },
    });
    await call("PUT", "/v1/definitions", { body: { id: family, definition } });
    const id = fresh("actor");
    const refused = await spawn({ definitionId: family, id, input: { opened: "three" } });
    expectProblem(refused, 422, "expression_failed");
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
    const mended = await spawn({ definitionId: family, id, input: { opened: 3 } });
    expect(mended.body.context).toEqual({ opened: 4 });
  });
});

describe("reading an actor", () => {
  it("that does not exist, or cannot, is refused", async () => {
    expectProblem(await call("GET", "/v1/actors/nobody"), 404, "actor_not_found");
    const ids = ["a%20b", "a%2Fb", "%C3%A4", "%ZZ", "%FF", "%00", "x".repeat(201)];
    for (const id of ids) {
      expectProblem(await call("GET", `/v1/actors/${id}`), 400, "invalid_request");
    }
    expectProblem(await call("GET", "/v1/actors/bulk"), 404, "actor_not_found");
    expectProblem(await call("GET", "/v1/actors/ref:order:17"), 404, "ref_not_found");
    const meant = ["a b", "a/b", "ä", "\0", "bulk", "ref:order:17"];
    expect(await woken([...ids, ...meant])).toEqual([]);
  });

  it("as it was after a record", async () => {
    const path = await spawnDoor();
    for (const type of ["OPEN", "CLOSE"]) await call("POST", `${path}/events`, { body: { type } });
    const then = await call("GET", `${path}?at=2`);
    expect(then.body).toMatchObject({ stateValue: "open", seq: 2 });
    expect(then.headers.get("ETag")).toBeNull();
    expectProblem(await call("GET", `${path}?at=99`), 404, "record_not_found");
    for (const at of ["0", "-1", "x", "1.5"]) {
      expectProblem(await call("GET", `${path}?at=${at}`), 400, "invalid_request");
    }
  });
});

describe("references", () => {
  it("are set and removed", async () => {
    const path = await spawnDoor();
    const set = await call("PATCH", path, { body: { refs: { order: "o-1", other: "x" } } });
    expect(set).toMatchObject({ status: 200, body: { refs: { order: "o-1", other: "x" } } });
    expect(set.headers.get("ETag")).toBe(`"${set.body.seq}"`);
    const removed = await call("PATCH", path, { body: { refs: { other: null } } });
    expect(removed.body.refs).toEqual({ order: "o-1" });
  });

  it("are not changed by a bad request, or past an ETag", async () => {
    const path = await spawnDoor();
    const before = (await call("GET", path)).body;
    for (const body of [{}, { refs: null }, { refs: { a: 1 } }, { refs: { "": "x" } }]) {
      expectProblem(await call("PATCH", path, { body }), 400, "invalid_request");
    }
    expectProblem(await call("PATCH", path, { body: { ref: {} } }), 400, "unknown_field");
    const body = { refs: { a: "1" } };
    const stale = { body, headers: { "If-Match": '"7"' } };
    expectProblem(await call("PATCH", path, stale), 412, "seq_mismatch");
    for (const tag of ["1", 'W/"1"', '"x"', '"1", "2"', ""]) {
      const malformed = { body, headers: { "If-Match": tag } };
      expectProblem(await call("PATCH", path, malformed), 400, "invalid_request");
    }
    expect((await call("GET", path)).body).toEqual(before);
    expect((await call("PATCH", path, { body, headers: { "If-Match": '"1"' } })).status).toBe(200);
    expect((await call("PATCH", path, { body, headers: { "If-Match": "*" } })).status).toBe(200);
  });
});

describe("deleting an actor", () => {
  it("erases it, and its id can be used again", async () => {
    const definitionId = await deployDoor();
    const id = fresh("actor");
    const key = fresh("key");
    const first = await spawn({ definitionId, id }, { key });
    const path = `/v1/actors/${id}`;
    const stale = { headers: { "If-Match": '"9"' } };
    expectProblem(await call("DELETE", path, stale), 412, "seq_mismatch");
    expect((await call("DELETE", path)).status).toBe(204);
    expectProblem(await call("GET", path), 404, "actor_not_found");
    expectProblem(await call("DELETE", path), 404, "actor_not_found");
    expectProblem(await spawn({ definitionId, id }, { key }), 410, "actor_deleted");
    const second = await spawn({ definitionId, id });
    expect(second.status).toBe(201);
    expect(second.body.uid).not.toBe(first.body.uid);
  });
});

describe("waiting", () => {
  it("ends when the actor is where it was wanted", async () => {
    const path = await spawnDoor();
    const waiting = call("GET", `${path}/wait?state=open&timeoutMs=50000`);
    const tagged = call("GET", `${path}/wait?tag=passable`);
    const numbered = call("GET", `${path}/wait?seq=2`);
    await call("POST", `${path}/events`, { body: { type: "OPEN" } });
    for (const answer of await Promise.all([waiting, tagged, numbered])) {
      expect(answer.body).toMatchObject({ matched: true, reason: "matched" });
      expect(answer.body.actor.stateValue).toBe("open");
    }
  });

  it("ends by itself, or when the actor does", async () => {
    const path = await spawnDoor();
    const timeout = await call("GET", `${path}/wait?done=true&timeoutMs=20`);
    expect(timeout.body).toMatchObject({ matched: false, reason: "timeout" });
    await call("POST", `${path}/events`, { body: { type: "DEMOLISH" } });
    const done = await call("GET", `${path}/wait?done=true`);
    expect(done.body).toMatchObject({ matched: true, reason: "matched" });
    const never = await call("GET", `${path}/wait?state=open`);
    expect(never.body).toMatchObject({ matched: false, reason: "finished" });
  });

  it("needs one thing to wait for, and a time within the limit", async () => {
    const path = await spawnDoor();
    expect((await call("GET", `${path}/wait?seq=1&timeoutMs=55000`)).status).toBe(200);
    for (const query of [
      "",
      "?timeoutMs=5",
      "?state=open&tag=x",
      "?done=false",
      "?done=true&timeoutMs=55001",
      "?done=true&timeoutMs=-1",
      "?seq=x",
      "?state=",
    ]) {
      expectProblem(await call("GET", `${path}/wait${query}`), 400, "invalid_request");
    }
    expectProblem(await call("GET", "/v1/actors/nobody/wait?done=true"), 404, "actor_not_found");
  });
});

describe("replaying an actor", () => {
  it("compares its log with what it gives again, here or on another definition", async () => {
    const path = await spawnDoor();
    for (const type of ["OPEN", "CLOSE"]) await call("POST", `${path}/events`, { body: { type } });
    const same = await call("POST", `${path}/replay`, { key: null });
    expect(same).toMatchObject({ status: 200, body: { identical: true } });
    const family = fresh("door");
    const definition = doorMachine(family, { initial: "locked" });
    await call("PUT", "/v1/definitions", { body: { id: family, definition } });
    const other = await call("POST", `${path}/replay`, { body: { definitionId: family } });
    expect(other.body.identical).toBe(false);
    expect(other.body.firstDivergence.seq).toBeGreaterThan(0);
    expectProblem(
      await call("POST", `${path}/replay`, { body: { definitionId: "nothing" } }),
      404,
      "definition_not_found",
    );
  });
});

describe("exporting an actor", () => {
  it("gives envelope, definition and the whole log, however long", async () => {
    const path = await spawnDoor();
    const types = ["OPEN", "CLOSE"];
    for (let n = 0; n < 3; n++) {
      const events = Array.from({ length: 100 }, (_, i) => ({ type: types[i % 2] }));
      await call("POST", `${path}/events/batch`, { body: { events } });
    }
    const { status, body } = await call("GET", `${path}/export`);
    expect(status).toBe(200);
    expect(body.envelope).toMatchObject({ seq: 301, status: "active" });
    expect(body.log.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: 301 }, (_, n) => n + 1),
    );
    expect(body.definitions).toHaveLength(1);
    expect(body.definitions[0].definition.initial).toBe("closed");
    expectProblem(await call("GET", "/v1/actors/nobody/export"), 404, "actor_not_found");
  });

  it("that breaks off half way is no document", async () => {
    const refused = { ok: false, failure: { code: "actor_not_found", detail: "erased meanwhile" } };
    const envelope = { seq: 2 };
    const actor = {
      exportHead: async () => ({ ok: true, status: 200, body: { envelope, definitions: [] } }),
      exportLog: async ({ after }: { after: number }) =>
        after === 0
          ? { ok: true, status: 200, body: { items: [{ seq: 1 }], nextAfter: 1 } }
          : refused,
    };
    const request = new Request("http://perdure.test/v1/actors/a/export", {
      headers: { Authorization: "Bearer dev" },
    });
    const ACTORS = { getByName: () => actor } as unknown as typeof env.ACTORS;
    const response = await createApp().fetch(request, { ...env, ACTORS });
    await expect(() => response.text()).rejects.toThrow(/broke off/);
  });
});
