import { afterEach, describe, expect, test, vi } from "vitest";
import type { AbandonCommand, SpawnCommand } from "../../src/actor/rpc.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { actorNow, alarmOf, deployed, evict, actorOf, records, sent } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { watchDirectory } from "../support/reports.ts";
import { silence } from "../support/silence.ts";

afterEach(() => vi.restoreAllMocks());

const MACHINE = { initial: "a", states: { a: { on: { END: "b" } }, b: { type: "final" } } };
const PARENT = { id: "parent", uid: "5".repeat(32), ref: "3:0" };
const KEY = `${PARENT.uid}:3:0`;

const spawning = async (id: string, more: Partial<SpawnCommand> = {}): Promise<SpawnCommand> => ({
  tenant: DEFAULT_TENANT,
  id,
  definitionId: await deployed(MACHINE),
  keyed: { key: KEY, request: "r", ifMatch: null, by: "actor:parent", principal: null },
  parent: { ...PARENT, index: 0 },
  ...more,
});
const abandoning = (id: string): AbandonCommand => ({
  tenant: DEFAULT_TENANT,
  id,
  parent: PARENT,
  key: KEY,
});

describe("a child that its parent let go", () => {
  test("is terminated, once", async () => {
    const id = fresh("c");
    expect(await actorOf(id).spawn(await spawning(id))).toMatchObject({ ok: true, status: 201 });
    expect(await actorOf(id).abandon(abandoning(id))).toMatchObject({ ok: true });
    await evict(id);
    expect(await actorOf(id).abandon(abandoning(id))).toMatchObject({ ok: true });
    expect((await actorNow(id)).status).toBe("terminated");
    const log = await records(id);
    expect(log.map(({ kind }) => kind)).toEqual(["spawned", "terminated"]);
    expect(log[1].by).toBe("actor:parent");
  });

  test("is terminated also while it is paused", async () => {
    const id = fresh("c");
    await actorOf(id).spawn(await spawning(id));
    await call("POST", `/v1/actors/${id}/pause`, { body: {} });
    await actorOf(id).abandon(abandoning(id));
    expect((await actorNow(id)).status).toBe("terminated");
  });

  test("stays what it was when it had ended", async () => {
    const id = fresh("c");
    await actorOf(id).spawn(await spawning(id));
    await sent(id, "END");
    await actorOf(id).abandon(abandoning(id));
    expect((await actorNow(id)).status).toBe("done");
  });

  test("is not spawned any more where its spawn comes later", async () => {
    const id = fresh("c");
    const command = await spawning(id);
    // Calls of one stub arrive in their order.
    const actor = actorOf(id);
    const [, late] = await Promise.all([actor.abandon(abandoning(id)), actor.spawn(command)]);
    expect(late).toMatchObject({ failure: { code: "actor_deleted" } });
    await evict(id);
    expect(await actorOf(id).spawn(command)).toMatchObject({ failure: { code: "actor_deleted" } });
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
    // What is remembered of it is forgotten one day.
    expect(await alarmOf(id)).toBeGreaterThan(Date.now() + LIMITS.tombstoneMs - 60_000);
  });

  test("gives its id to whoever spawns it next", async () => {
    const id = fresh("c");
    await actorOf(id).abandon(abandoning(id));
    const body = { definitionId: await deployed(MACHINE), id };
    expect((await call("POST", "/v1/actors", { body })).status).toBe(201);
  });

  test("is not confused with another actor of its id", async () => {
    const id = fresh("c");
    const other = { ...PARENT, uid: "6".repeat(32), index: 0 };
    await actorOf(id).spawn(await spawning(id, { parent: other }));
    await actorOf(id).abandon(abandoning(id));
    expect((await actorNow(id)).status).toBe("active");
  });

  test("is not spawned after another actor of its id is deleted, either", async () => {
    const id = fresh("c");
    const other = { ...PARENT, uid: "6".repeat(32), index: 0 };
    const key = { key: `${other.uid}:3:0`, request: "r", ifMatch: null, by: null, principal: null };
    await actorOf(id).spawn(await spawning(id, { parent: other, keyed: key }));
    await actorOf(id).abandon(abandoning(id));
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    const late = await actorOf(id).spawn(await spawning(id));
    expect(late).toMatchObject({ failure: { code: "actor_deleted" } });
  });

  test("is not spawned where another actor of its id was being deleted", async () => {
    silence();
    const id = fresh("c");
    const other = { ...PARENT, uid: "6".repeat(32), index: 0 };
    const key = { key: `${other.uid}:3:0`, request: "r", ifMatch: null, by: null, principal: null };
    await actorOf(id).spawn(await spawning(id, { parent: other, keyed: key }));
    watchDirectory().plan.set(id, ["refused"]);
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(503);
    await actorOf(id).abandon(abandoning(id));
    const late = await actorOf(id).spawn(await spawning(id));
    expect(late).toMatchObject({ failure: { code: "actor_deleted" } });
  });
});
