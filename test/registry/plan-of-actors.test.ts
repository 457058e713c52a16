import { describe, expect, it, vi } from "vitest";
import { call, fresh, spawnOn } from "../support/api.ts";
import { loan, loan2 } from "../support/rules.ts";

/** An actor that has handled these events; its path. */
async function lived(definitionId: string, ...types: string[]): Promise<string> {
  const path = await spawnOn(definitionId);
  for (const type of types) {
    expect((await call("POST", `${path}/events`, { body: { type } })).status).toBe(200);
  }
  return path.split("/").at(-1) as string;
}

describe("a plan of actors that live", () => {
  it("tells those apart that stand in one state and came there by different ways", async () => {
    const family = fresh("loan");
    const [v1, v2] = [`${family}-v1`, `${family}-v2`];
    await call("PUT", "/v1/definitions", { body: { id: v1, definition: loan(family) } });
    const alice = await lived(v1, "SUBMIT_INFO", "PAY_FEE");
    const bob = await lived(v1, "SUBMIT_INFO", "WAIVE_FEE");
    const young = await lived(v1, "SUBMIT_INFO");
    const ended = await lived(v1, "SUBMIT_INFO", "PAY_FEE", "UPLOAD", "REJECT");
    const deployment = {
      id: v2,
      definition: loan2(family),
      parentId: v1,
      historyPath: ["SUBMIT_INFO", "PAY_FEE"],
    };
    // The directory knows within a second.
    const answer = await vi.waitFor(async () => {
      const body = { ...deployment, replay: { sample: 5 } };
      const preview = await call("POST", "/v1/definitions/preview", { body });
      expect(preview).toMatchObject({ status: 200, body: { match: 1, pending: 1, diverged: 1 } });
      return preview;
    }, 10_000);
    expect(answer.body).toMatchObject({
      total: 3,
      sampleIds: { match: [alice], diverged: [bob], pending: [young], nearMisses: [] },
      unmappable: [],
      timers: { kept: 1, cancelled: 0, started: 1 },
    });
    expect(JSON.stringify(answer.body)).not.toContain(ended);
    expect(answer.body.byState).toContainEqual({
      definitionId: v1,
      stateValue: "docs",
      targetStateValue: "docs",
      count: 1,
      class: "match",
    });
    expect(answer.body.replay.map(({ actorId }: { actorId: string }) => actorId)).toEqual([alice]);
    const deployed = await call("PUT", "/v1/definitions", { body: deployment });
    expect(deployed).toMatchObject({
      status: 201,
      body: { rule: { from: v1, to: v2 }, nearMisses: 0 },
    });
  });

  it("stops a deploy that would leave one of them behind", async () => {
    const family = fresh("loan");
    const [v1, v2] = [`${family}-v1`, `${family}-v2`];
    await call("PUT", "/v1/definitions", { body: { id: v1, definition: loan(family) } });
    const id = await lived(v1, "SUBMIT_INFO", "PAY_FEE");
    const { docs: _, ...states } = loan2(family)["states"] as Record<string, object>;
    const definition = {
      ...loan2(family),
      states: { ...states, fee: { on: { PAY_FEE: "income", WAIVE_FEE: "income" } } },
    };
    const body = { id: v2, definition, parentId: v1, historyPath: ["SUBMIT_INFO", "PAY_FEE"] };
    const preview = () => call("POST", "/v1/definitions/preview", { body });
    await vi.waitFor(async () => expect((await preview()).body.match).toBe(1), 10_000);
    const refused = await call("PUT", "/v1/definitions", { body });
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: "migration_needs_confirmation",
        plan: { unmappable: [{ stateValue: "docs", count: 1, sampleIds: [id] }] },
      },
    });
    expect((await call("GET", `/v1/definitions/${v2}`)).status).toBe(404);
    const { confirmToken } = refused.body.plan;
    const deployed = await call("PUT", "/v1/definitions", { body: { ...body, confirmToken } });
    expect(deployed).toMatchObject({ status: 201, body: { rule: { from: v1, to: v2 } } });
  });
});
