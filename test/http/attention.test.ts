import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { entryShard } from "../../src/directory/shards.ts";
import { call, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { entry } from "../support/directory.ts";
import { parsePrometheus, sample } from "../support/prometheus.ts";
import { registryObject } from "../support/registry.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

const failing = { type: "@xstate.assign", context: { n: { "@expr": "context.n + event.by" } } };

it("who needs attention is in one filter and one counter, with the reason in words", async () => {
  const { tenant, apiKey } = await newTenant();
  const family = fresh("m");
  const definitionId = `${family}-v1`;
  const definition = {
    id: family,
    initial: "idle",
    context: { n: 0 },
    states: {
      idle: { on: { SOON: "soon", LATER: "later" } },
      soon: { after: { 1: { target: "idle", actions: failing } } },
      later: { after: { 60000: "idle" } },
    },
  };
  const put = await call("PUT", "/v1/definitions", {
    apiKey,
    body: { id: definitionId, definition },
  });
  expect(put.status, JSON.stringify(put.body)).toBe(201);
  for (const id of ["well", "parked"]) {
    await call("POST", "/v1/actors", { apiKey, body: { definitionId, id } });
  }
  await call("POST", "/v1/actors/parked/events", { apiKey, body: { type: "SOON" } });

  // What no machine of this test comes to, as the shards would be told it. An overdue timer does not stay one:
  // the shard that sees it wakes the actor.
  const shards = await runInDurableObject(registryObject(tenant), (object) =>
    object.shards({ fix: true }),
  );
  for (const more of [
    { id: "broken", status: "error" as const, attention: ["error" as const] },
    { id: "lost", attention: ["definition_unavailable" as const] },
  ]) {
    const shard = env.DIRECTORY.getByName(entryShard(tenant, shards as number, more.id));
    await shard.put(
      entry({ definitionId, family, uid: "0".repeat(32), bornAt: Date.now(), ...more }),
    );
  }

  const listed = async (query: string): Promise<Body[]> =>
    (await call("GET", `/v1/actors${query}`, { apiKey })).body.items;
  const all = await until(
    () => listed("?attention=true"),
    (items) => items.length === 3,
  );
  const reasons = Object.fromEntries(all.map(({ id, needsAttention }) => [id, needsAttention]));
  const wanted = {
    parked: "parked",
    broken: "error",
    lost: "definition_unavailable",
  };
  expect(Object.keys(reasons).toSorted()).toEqual(Object.keys(wanted).toSorted());
  for (const [id, reason] of Object.entries(wanted)) {
    expect(reasons[id], id).toEqual([{ reason, message: expect.stringMatching(/\w+ \w+ \w+/) }]);
    expect((await listed(`?attention=${reason}`)).map((one) => one.id)).toEqual([id]);
  }
  expect((await listed("?attention=false")).map(({ id }) => id)).toEqual(["well"]);
  const counted = await call("GET", "/v1/actors/count?attention=true&groupBy=status", { apiKey });
  expect(counted.body).toMatchObject({ total: 3, groups: [{ count: 2 }, { count: 1 }] });
  const metrics = parsePrometheus((await call("GET", "/v1/metrics", { apiKey })).body);
  for (const reason of Object.values(wanted)) {
    expect(sample(metrics, "perdure_actors_needing_attention", { reason }), reason).toBe(1);
  }
  const shown = (await call("GET", "/v1/actors/parked", { apiKey })).body.needsAttention;
  expect(shown[0]).toMatchObject({ reason: "parked" });
  // Taken care of: nobody needs to look any more.
  await call("POST", "/v1/actors/parked/terminate", { apiKey, body: {} });
});
