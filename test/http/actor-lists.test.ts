import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, doorMachine, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

let apiKey: string;
let definitionId: string;

beforeAll(async () => {
  ({ apiKey } = await newTenant());
  definitionId = await deployDoor({ apiKey });
});

async function spawn(body: object = {}): Promise<Body> {
  const answer = await call("POST", "/v1/actors", {
    apiKey,
    body: { definitionId, id: fresh("a"), ...body },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function send(id: string, type: string): Promise<void> {
  const answer = await call("POST", `/v1/actors/${id}/events`, { apiKey, body: { type } });
  expect(answer.body.handled).toBe(true);
}

async function listed(query: string): Promise<Body> {
  const answer = await call("GET", `/v1/actors${query}`, { apiKey });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

const idsIn = (page: Body): string[] => page.items.map(({ id }: Body) => id);

describe("the list of actors", () => {
  it("has an actor before its spawn is answered, as a summary", async () => {
    const before = Date.now();
    const actor = await spawn({ refs: { order: "17" } });
    const page = await listed("");
    expect(page.items[0]).toEqual({
      id: actor.id,
      uid: actor.uid,
      definitionId,
      family: actor.family,
      stateValue: "closed",
      tags: [],
      status: "active",
      done: false,
      seq: 1,
      refs: { order: "17" },
      nextDueAt: null,
      createdAt: actor.createdAt,
      updatedAt: actor.updatedAt,
      needsAttention: [],
    });
    expect(Date.parse(page.asOf)).toBeGreaterThanOrEqual(before);
  });

  it("follows the actor, filter by filter", async () => {
    const family = fresh("f");
    const id = `${family}-v1`;
    const definition = doorMachine(family);
    await call("PUT", "/v1/definitions", { apiKey, body: { id, definition } });
    const [one, two, three] = [
      await spawn({ definitionId: id }),
      await spawn({ definitionId: id, refs: { a: "1", b: "2" } }),
      await spawn({ definitionId: id, refs: { a: "1" } }),
    ];
    expect(idsIn(await listed(`?definitionId=${id}`))).toEqual([three.id, two.id, one.id]);
    expect(idsIn(await listed(`?family=${family}&limit=1`))).toEqual([three.id]);
    await send(one.id, "OPEN");
    await send(two.id, "DEMOLISH");
    const open = await until(
      () => listed(`?family=${family}&state=open`),
      ({ items }) => items.length === 1,
    );
    expect(open.items[0]).toMatchObject({ id: one.id, tags: ["passable"], stateValue: "open" });
    expect(Date.parse(open.items[0].nextDueAt)).toBeGreaterThan(Date.now());
    const done = await until(
      () => listed(`?family=${family}&status=done`),
      ({ items }) => items.length === 1,
    );
    expect(done.items[0]).toMatchObject({ id: two.id, done: true, status: "done" });
    expect(idsIn(await listed(`?tag=passable&family=${family}`))).toEqual([one.id]);
    expect(idsIn(await listed(`?family=${family}&attention=true`))).toEqual([]);
    expect((await listed(`?family=${family}&attention=false`)).items).toHaveLength(3);
    const refs = `?family=${family}&ref.a=1`;
    await until(
      () => listed(refs),
      ({ items }) => items.length === 2,
    );
    expect(idsIn(await listed(refs))).toEqual([three.id, two.id]);
    expect(idsIn(await listed(`${refs}&ref.b=2`))).toEqual([two.id]);
    expect(idsIn(await listed(`${refs}&ref.b=3`))).toEqual([]);
    expect(idsIn(await listed(`${refs}&status=active`))).toEqual([three.id]);
    const late = new Date(Date.now() + 86_400_000).toISOString();
    expect(idsIn(await listed(`?family=${family}&updatedAfter=${late}`))).toEqual([]);
    expect(
      (await listed(`?family=${family}&updatedAfter=2020-01-01T00:00:00Z`)).items,
    ).toHaveLength(3);
  });

  it("goes on where a page ended, and only with the same filter", async () => {
    const family = fresh("p");
    const id = `${family}-v1`;
    await call("PUT", "/v1/definitions", {
      apiKey,
      body: { id, definition: doorMachine(family) },
    });
    const actors = [];
    for (let n = 0; n < 7; n++) actors.push((await spawn({ definitionId: id })).id);
    const seen: string[] = [];
    let cursor = "";
    let pages = 0;
    do {
      const page = await listed(`?family=${family}&limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...idsIn(page));
      cursor = page.nextCursor ?? "";
      pages += 1;
    } while (cursor !== "" && pages < 9);
    expect(seen).toEqual(actors.toReversed());
    expect(pages).toBe(3);
    const { nextCursor } = await listed(`?family=${family}&limit=3`);
    expect(idsIn(await listed(`?family=${family}&limit=2&cursor=${nextCursor}`))).toHaveLength(2);
    for (const query of [
      `?limit=3&cursor=${nextCursor}`,
      `?family=${family}x&cursor=${nextCursor}`,
      `?family=${family}&status=active&cursor=${nextCursor}`,
      `?family=${family}&ref.a=1&cursor=${nextCursor}`,
      `?family=${family}&cursor=${nextCursor}x`,
      `?family=${family}&cursor=made-up`,
    ]) {
      const answer = await call("GET", `/v1/actors${query}`, { apiKey });
      expectProblem(answer, 400, "cursor_invalid");
    }
  });

  it("is of one tenant", async () => {
    const actor = await spawn({ refs: { secret: "1" } });
    const other = await newTenant();
    for (const query of ["", `?definitionId=${definitionId}`, "?ref.secret=1"]) {
      const answer = await call("GET", `/v1/actors${query}`, { apiKey: other.apiKey });
      expect(answer.body.items, query).toEqual([]);
    }
    const counted = await call("GET", "/v1/actors/count", { apiKey: other.apiKey });
    expect(counted.body).toMatchObject({ total: 0, groups: [] });
    expect(actor.id).toBeTruthy();
  });
});

describe("a query for actors", () => {
  it.each([
    ["?colour=red", "unknown_field"],
    ["?ref=1", "unknown_field"],
    ["?refs.a=1", "unknown_field"],
    ["?status=sleeping", "invalid_request"],
    ["?attention=maybe", "invalid_request"],
    ["?updatedAfter=yesterday", "invalid_request"],
    ["?limit=0", "invalid_request"],
    [`?limit=${LIMITS.pageMost + 1}`, "invalid_request"],
    ["?definitionId=a%2Fb", "invalid_request"],
    [`?family=${"x".repeat(201)}`, "invalid_request"],
    ["?state=", "invalid_request"],
    ["?ref.=1", "invalid_request"],
    ["?ref.a=", "invalid_request"],
    [`?ref.a=${"x".repeat(LIMITS.refValueChars + 1)}`, "invalid_request"],
    [`?ref.${"x".repeat(LIMITS.refNameChars + 1)}=1`, "invalid_request"],
    ["?ref.__proto__=1", "invalid_request"],
    ["?status=active&status=done", "invalid_request"],
    ["?ref.a=1&ref.a=2", "invalid_request"],
  ])("%s is a 400 %s", async (query, code) => {
    expectProblem(await call("GET", `/v1/actors${query}`, { apiKey }), 400, code);
    if (query.startsWith("?limit")) return;
    expectProblem(await call("GET", `/v1/actors/count${query}`, { apiKey }), 400, code);
  });

  it("takes each reason for attention, the longest values, and five references", async () => {
    for (const attention of ["timer_overdue", "parked", "definition_unavailable", "true"]) {
      expect(await listed(`?attention=${attention}`)).toMatchObject({ items: [] });
    }
    const names = Array.from({ length: LIMITS.refsPerFilter }, (_, n) => `ref.n${n}=1`);
    await listed(`?${names.join("&")}`);
    await listed(`?family=${"x".repeat(200)}`);
    const value = encodeURIComponent("ü".repeat(LIMITS.refValueChars));
    await listed(`?ref.${"n".repeat(LIMITS.refNameChars)}=${value}`);
    const many = await call("GET", `/v1/actors?${names.join("&")}&ref.more=1`, { apiKey });
    expectProblem(many, 422, "limit_exceeded");
    expect(many.body).toMatchObject({ limit: "refsPerFilter", most: LIMITS.refsPerFilter });
  });

  it("needs the scope read", async () => {
    const body = { label: "write", scopes: ["write"], tenant: fresh("t").slice(0, 30) };
    const { key } = (await call("POST", "/v1/keys", { body })).body;
    for (const path of ["/v1/actors", "/v1/actors/count", "/v1/metrics"]) {
      expectProblem(await call("GET", path, { apiKey: key }), 403, "forbidden");
      expectProblem(await call("GET", path, { apiKey: null }), 401, "unauthorized");
    }
  });
});

describe("the count of actors", () => {
  it("groups by state, by status and by definition", async () => {
    const tenant = await newTenant();
    const ours = { apiKey: tenant.apiKey };
    const family = fresh("c");
    const machine = {
      id: family,
      type: "parallel",
      states: {
        b: { initial: "x", states: { x: { on: { GO: "y" } }, y: {} } },
        a: { initial: "x", states: { x: {}, y: {} } },
      },
    };
    const id = `${family}-v1`;
    await call("PUT", "/v1/definitions", { ...ours, body: { id, definition: machine } });
    const door = await deployDoor(ours);
    for (let n = 0; n < 3; n++) {
      await call("POST", "/v1/actors", { ...ours, body: { definitionId: id, id: `p${n}` } });
      await call("POST", "/v1/actors", { ...ours, body: { definitionId: door, id: `d${n}` } });
    }
    await call("POST", "/v1/actors/p0/events", { ...ours, body: { type: "GO" } });
    await call("POST", "/v1/actors/d0/events", { ...ours, body: { type: "DEMOLISH" } });
    const count = async (query: string) =>
      (await call("GET", `/v1/actors/count${query}`, ours)).body;
    await until(
      () => count("?state=b.y"),
      ({ total }) => total === 1,
    );
    await until(
      () => count("?status=done"),
      ({ total }) => total === 1,
    );
    expect(await count("")).toMatchObject({ total: 6, groups: [] });
    expect(await count("?groupBy=status")).toMatchObject({
      total: 6,
      groups: [
        { status: "active", count: 5 },
        { status: "done", count: 1 },
      ],
    });
    expect((await count("?groupBy=definitionId")).groups).toEqual(
      [id, door].toSorted().map((definitionId) => ({ definitionId, count: 3 })),
    );
    const { groups } = await count("?groupBy=state");
    expect(groups).toHaveLength(4);
    expect(groups.map((group: Body) => group.count)).toEqual([2, 2, 1, 1]);
    expect(groups).toContainEqual({ stateValue: { a: "x", b: "x" }, count: 2 });
    expect(groups).toContainEqual({ stateValue: "gone", count: 1 });
    expect((await count(`?groupBy=state&definitionId=${id}`)).total).toBe(3);
    expectProblem(await call("GET", "/v1/actors/count?groupBy=tag", ours), 400, "invalid_request");
    expectProblem(await call("GET", "/v1/actors/count?limit=5", ours), 400, "unknown_field");

    const stats = (await call("GET", `/v1/definitions/${door}/stats`, ours)).body;
    expect(stats).toMatchObject({
      total: 3,
      byStatus: { active: 2, paused: 0, stranded: 0, done: 1, error: 0, terminated: 0 },
      byState: [
        { stateValue: "closed", count: 2 },
        { stateValue: "gone", count: 1 },
      ],
    });
    expectProblem(
      await call("GET", "/v1/definitions/nothing/stats", ours),
      404,
      "definition_not_found",
    );
    const unused = await deployDoor(ours);
    expect((await call("GET", `/v1/definitions/${unused}/stats`, ours)).body).toMatchObject({
      total: 0,
      byState: [],
    });
  });
});

describe("without a directory", () => {
  const env = { PERDURE_DIRECTORY: "off" };

  it.each(["/v1/actors", "/v1/actors/count", "/v1/metrics", "/v1/definitions/d/stats"])(
    "%s says that there is none",
    async (path) => {
      const answer = await call("GET", path, { apiKey, env });
      expectProblem(answer, 503, "not_configured");
      expect(answer.body.detail).toContain("PERDURE_DIRECTORY");
    },
  );

  it("a bulk operation finds nobody, and says so", async () => {
    const body = { filter: { status: "active" }, action: "pause" };
    expectProblem(await call("POST", "/v1/bulk", { apiKey, env, body }), 503, "not_configured");
  });

  it("a reference leads nowhere", async () => {
    expectProblem(await call("GET", "/v1/actors/ref:a:b", { apiKey, env }), 503, "not_configured");
    const body = { type: "OPEN" };
    const sent = await call("POST", "/v1/actors/ref:a:b/events", { apiKey, env, body });
    expectProblem(sent, 503, "not_configured");
  });
});
