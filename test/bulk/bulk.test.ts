import { afterEach, describe, expect, it, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { actorNow, deployed, records, sent, spawned } from "../support/actors.ts";
import { call, doorMachine, expectProblem, fresh } from "../support/api.ts";
import { bulkItems, finishedBulk, startedBulk } from "../support/bulk.ts";
import { untilTrue } from "../support/until.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

async function doors(count: number): Promise<{ definitionId: string; ids: string[] }> {
  const definitionId = await deployed(doorMachine("any"));
  const ids = await Promise.all(Array.from({ length: count }, () => spawned(definitionId)));
  return { definitionId, ids };
}

const outcomes = (items: { actorId: string; outcome: string }[]) =>
  Object.fromEntries(items.map(({ actorId, outcome }) => [actorId, outcome]));

describe("a bulk operation", () => {
  it("sends an event to each selected actor, once, with who is behind it", async () => {
    const { definitionId, ids } = await doors(7);
    const body = {
      filter: { definitionId },
      action: "send",
      type: "OPEN",
      payload: { hinge: 3 },
      by: "the morning shift",
    };
    const key = fresh("key");
    const id = await startedBulk(body, key);
    const done = await finishedBulk(id);
    expect(done).toMatchObject({
      id,
      action: "send",
      filter: { definitionId },
      state: "done",
      total: 7,
      counts: { pending: 0, succeeded: 7, refused: 0, failed: 0, cancelled: 0 },
    });
    const items = await bulkItems(id, "", 3);
    expect(items.map(({ actorId }) => actorId).sort()).toEqual(ids.toSorted());
    for (const item of items) {
      expect(item).toMatchObject({ outcome: "succeeded", seq: 2, handled: true });
    }
    const log = await records(ids[0] as string);
    expect(log).toHaveLength(2);
    expect(log[1]).toMatchObject({
      type: "OPEN",
      payload: { hinge: 3 },
      key: `bulk:${id}`,
      by: "the morning shift",
      principal: "dev",
    });

    // The same again is the same operation, and nothing is done twice.
    const again = await call("POST", "/v1/bulk", { body, key });
    expect(again).toMatchObject({ status: 202, body: { id } });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(await records(ids[0] as string)).toHaveLength(2);
    const other = { ...body, type: "CLOSE" };
    expectProblem(
      await call("POST", "/v1/bulk", { body: other, key }),
      422,
      "idempotency_key_reused",
    );
    const cancelled = await call("POST", `/v1/bulk/${id}/cancel`, { body: {} });
    expect(cancelled).toMatchObject({ status: 200, body: done });
  });

  it("says of each actor what it was refused for", async () => {
    const { definitionId, ids } = await doors(3);
    const [first, second, third] = ids as [string, string, string];
    await call("POST", `/v1/actors/${first}/pause`);
    await sent(second, "DEMOLISH");
    const id = await startedBulk({ filter: { definitionId }, action: "send", type: "LOCK" });
    expect((await finishedBulk(id)).counts).toMatchObject({ succeeded: 1, refused: 2 });
    const refused = await bulkItems(id, "&outcome=refused", 1);
    expect(outcomes(refused)).toEqual({ [first]: "refused", [second]: "refused" });
    for (const item of refused) {
      expect(item.code).toBe("actor_not_active");
      expect(item.detail).toContain("is ");
    }
    expect(await bulkItems(id, "&outcome=succeeded")).toMatchObject([
      { actorId: third, handled: false },
    ]);
    expect(await bulkItems(id, "&outcome=pending")).toEqual([]);
  });

  it("pauses, resumes, retries, replays and terminates", async () => {
    const { definitionId, ids } = await doors(3);
    const filter = { definitionId };
    for (const [action, status, outcome] of [
      ["pause", "paused", { outcome: "succeeded", seq: 2 }],
      ["resume", "active", { outcome: "succeeded", seq: 3 }],
      ["retry", "active", { outcome: "refused", code: "nothing_to_retry" }],
      ["replay", "active", { outcome: "succeeded", identical: true }],
      ["terminate", "terminated", { outcome: "succeeded", seq: 4 }],
    ] as const) {
      const id = await startedBulk({ filter, action, by: "the boss" });
      expect(await finishedBulk(id)).toMatchObject({ state: "done", total: 3 });
      const items = await bulkItems(id);
      expect(items).toHaveLength(3);
      for (const item of items) expect(item, action).toMatchObject(outcome);
      for (const actor of ids) expect((await actorNow(actor)).status, action).toBe(status);
    }
    for (const actor of ids) {
      const log = await records(actor);
      expect(log.map(({ kind }) => kind)).toEqual(["spawned", "paused", "resumed", "terminated"]);
      expect(log.slice(1).every(({ by }) => by === "the boss")).toBe(true);
    }
  });

  it("acts on what was selected when it was accepted, whatever happens since", async () => {
    const { definitionId, ids } = await doors(120);
    const filter = { definitionId, state: "closed" };
    const id = await startedBulk({ filter, action: "send", type: "OPEN" });
    // Neither one that comes later nor one that fits no more changes the list.
    const late = await spawned(definitionId);
    await sent(ids[0] as string, "CLOSE");
    const done = await finishedBulk(id);
    expect(done).toMatchObject({ total: 120, counts: { succeeded: 120 } });
    const items = await bulkItems(id);
    expect(items.map(({ actorId }) => actorId).sort()).toEqual(ids.toSorted());
    expect(await records(late)).toHaveLength(1);
  });

  it("that is cancelled says of each actor whether it was acted on", async () => {
    const { definitionId, ids } = await doors(60);
    let answered = false;
    const control = ActorObject.prototype.control;
    vi.spyOn(ActorObject.prototype, "control").mockImplementation(async function (
      this: ActorObject,
      command,
    ) {
      await untilTrue(() => answered);
      return control.call(this, command);
    });
    const id = await startedBulk({ filter: { definitionId }, action: "terminate" });
    const { body } = await call("POST", `/v1/bulk/${id}/cancel`, { body: {} });
    answered = true;
    expect(["cancelling", "cancelled"]).toContain(body.state);
    const done = await finishedBulk(id);
    const { succeeded, cancelled } = done.counts;
    expect(done).toMatchObject({ state: "cancelled", total: 60 });
    expect(succeeded + cancelled).toBe(60);
    expect(succeeded).toBeLessThanOrEqual(LIMITS.bulkConcurrency);
    const items = await bulkItems(id);
    for (const { actorId, outcome } of items) {
      const { status } = await actorNow(actorId);
      expect(status).toBe(outcome === "succeeded" ? "terminated" : "active");
    }
    expect(await bulkItems(id, "&outcome=cancelled")).toHaveLength(cancelled);
    expect(items).toHaveLength(ids.length);
  });

  it("finds actors by reference, in both spellings", async () => {
    const definitionId = await deployed(doorMachine("any"));
    const house = fresh("house");
    const ids = [
      await spawned(definitionId, { refs: { house } }),
      await spawned(definitionId, { refs: { house } }),
    ];
    await spawned(definitionId, { refs: { house: fresh("house") } });
    for (const filter of [{ refs: { house } }, { "ref.house": house }]) {
      let items: { actorId: string; outcome: string }[] = [];
      // References are up to a second behind.
      for (let round = 0; round < 200 && items.length < 2; round += 1) {
        const id = await startedBulk({ filter, action: "replay" });
        await finishedBulk(id);
        items = await bulkItems(id);
      }
      expect(items.map(({ actorId }) => actorId).sort()).toEqual(ids.toSorted());
    }
  });

  it("of nobody is done at once", async () => {
    const id = await startedBulk({ filter: { family: fresh("none") }, action: "pause" });
    const { body } = await call("GET", `/v1/bulk/${id}`);
    expect(body).toMatchObject({ state: "done", total: 0 });
    expect(await bulkItems(id)).toEqual([]);
  });
});
