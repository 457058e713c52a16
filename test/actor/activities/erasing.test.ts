import { afterEach, describe, expect, test, vi } from "vitest";
import { actorNow, crash, deployed, sent, spawned } from "../../support/actors.ts";
import { call } from "../../support/api.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

/** Goes to work by an activity of that source when it is told to. */
function working(src: string, input: object): object {
  return {
    initial: "idle",
    states: {
      idle: { on: { GO: "working" } },
      working: { invoke: { id: "work", src, input, onDone: "done", onError: "failed" } },
      done: {},
      failed: {},
    },
  };
}

describe("an actor that is deleted", () => {
  test("takes its open tasks back", async () => {
    const queue = `q-${crypto.randomUUID().slice(0, 8)}`;
    const id = await spawned(working("task", { queue }));
    await sent(id, "GO");
    const open = async () => (await call("GET", `/v1/tasks?queue=${queue}`)).body.items;
    expect(await until(open, ({ length }) => length === 1)).toMatchObject([{ status: "open" }]);
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    expect(await open()).toMatchObject([{ status: "cancelled" }]);
  });

  test("ends its children, also where it goes away in between", async () => {
    const definitionId = await deployed({ initial: "on", states: { on: {} } });
    const child = `child-${crypto.randomUUID().slice(0, 8)}`;
    const id = await spawned(working("actor", { definitionId, id: child }));
    await sent(id, "GO");
    const exists = async () => (await call("GET", `/v1/actors/${child}`)).status;
    expect(await until(exists, (status) => status === 200)).toBe(200);
    await crash();
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    expect((await actorNow(child)).status).toBe("terminated");
  });

  test("is a child that did not end well to its parent", async () => {
    const definitionId = await deployed({ initial: "on", states: { on: {} } });
    const child = `child-${crypto.randomUUID().slice(0, 8)}`;
    const id = await spawned(working("actor", { definitionId, id: child }));
    await sent(id, "GO");
    const exists = async () => (await call("GET", `/v1/actors/${child}`)).status;
    await until(exists, (status) => status === 200);
    expect((await call("DELETE", `/v1/actors/${child}`)).status).toBe(204);
    const parent = await until(
      () => actorNow(id),
      ({ stateValue }) => stateValue === "failed",
    );
    expect(parent.stateValue).toBe("failed");
  });
});
