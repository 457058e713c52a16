import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, expectProblem, fresh } from "../support/api.ts";
import type { Answer, Body } from "../support/api.ts";

let definitionId: string;

beforeAll(async () => {
  definitionId = await deployDoor();
});

async function bulk(actors: unknown, key = fresh("key")): Promise<Answer> {
  return await call("POST", "/v1/actors/bulk", { key, body: { actors } });
}

describe("a bulk spawn", () => {
  it("spawns each, with an id of its own or a derived one", async () => {
    const id = fresh("b");
    const answer = await bulk([
      { definitionId, id, refs: { order: id } },
      { definitionId },
      { definitionId },
    ]);
    expect(answer.status).toBe(207);
    const { items } = answer.body;
    expect(items.map(({ index, status }: Body) => [index, status])).toEqual([
      [0, 201],
      [1, 201],
      [2, 201],
    ]);
    expect(new Set(items.map(({ actor }: Body) => actor.id)).size).toBe(3);
    for (const { actor } of items) {
      expect((await call("GET", `/v1/actors/${actor.id}`)).body.uid).toBe(actor.uid);
    }
    expect(items[0].actor).toMatchObject({ id, refs: { order: id } });
  });

  it("answers what is wrong with one item in its place, and the others are unharmed", async () => {
    const { body, status } = await bulk([
      { definitionId },
      { definitionId: "nothing" },
      { definitionId, id: "a b" },
      { definitionId, colour: "red" },
      "an actor",
      null,
      { definitionId, id: "count" },
      { definitionId, snapshot: { value: "nowhere", context: {} } },
      { definitionId },
    ]);
    expect(status).toBe(207);
    expect(body.items.map((item: Body) => [item.status, item.problem?.code])).toEqual([
      [201, undefined],
      [404, "definition_not_found"],
      [400, "invalid_request"],
      [400, "unknown_field"],
      [400, "invalid_request"],
      [400, "invalid_request"],
      [400, "invalid_request"],
      [422, "snapshot_invalid"],
      [201, undefined],
    ]);
    expect(body.items[3].problem.errors[0].pointer).toBe("/actors/3/colour");
    expect(body.items[2].problem.errors[0].pointer).toBe("/actors/2/id");
  });

  it("gives the same answers again, and spawns what was mended", async () => {
    const key = fresh("key");
    const good = { definitionId, input: 1 };
    const first = (await bulk([good, { definitionId: "nothing" }, good], key)).body.items;
    await call("POST", `/v1/actors/${first[0].actor.id}/events`, { body: { type: "OPEN" } });
    const again = (await bulk([good, { definitionId: "nothing" }, good], key)).body.items;
    expect(again).toEqual(first);
    const mended = (await bulk([good, { definitionId }, good], key)).body.items;
    expect(mended[0]).toEqual(first[0]);
    expect(mended[2]).toEqual(first[2]);
    expect(mended[1].status).toBe(201);
    const other = (await bulk([{ ...good, input: 2 }, { definitionId }], key)).body.items;
    expect(other[0].problem.code).toBe("idempotency_key_reused");
    // Neither is the header's key taken for a key of one of them.
    const alone = await call("POST", "/v1/actors", { key, body: good });
    expect(alone.status).toBe(201);
    expect(first.map(({ actor }: Body) => actor?.id)).not.toContain(alone.body.id);
  });

  it("lets the first of two items with one id have it, each time", async () => {
    const id = fresh("twice");
    const key = fresh("key");
    const actors = [
      { definitionId, id, input: 1 },
      { definitionId },
      { definitionId, id, input: 2 },
    ];
    for (let n = 0; n < 2; n++) {
      const { items } = (await bulk(actors, key)).body;
      expect(items.map((item: Body) => item.problem?.code ?? item.status)).toEqual([
        201,
        201,
        "actor_exists",
      ]);
    }
  });

  it("takes as many as the limit, in order, and not one more", async () => {
    // Most of them are refused before any object is called.
    const actors = Array.from({ length: LIMITS.actorsPerBulkSpawn }, (_, n) =>
      n % 10 === 0 ? { definitionId } : { definitionId: "a b" },
    );
    const { items } = (await bulk(actors)).body;
    expect(items.map(({ index }: Body) => index)).toEqual(actors.map((_, index) => index));
    const wanted = actors.map((_, n) => (n % 10 === 0 ? 201 : 400));
    expect(items.map(({ status }: Body) => status)).toEqual(wanted);
    const over = await bulk([...actors, { definitionId }]);
    expectProblem(over, 422, "limit_exceeded");
    expect(over.body).toMatchObject({ limit: "actorsPerBulkSpawn" });
    expectProblem(await bulk([]), 400, "invalid_request");
    expectProblem(await bulk("all"), 400, "invalid_request");
    const large = [{ definitionId, input: "x".repeat(LIMITS.bodyBytes) }];
    expectProblem(await bulk(large), 413, "too_large");
    const keyless = { key: null, body: { actors: [{ definitionId }] } };
    const answer = await call("POST", "/v1/actors/bulk", keyless);
    expectProblem(answer, 400, "idempotency_key_missing");
  });
});
