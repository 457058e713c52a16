import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { fleetMetrics } from "../../src/http/fleet-metrics.ts";
import { metricsText } from "../../src/http/metrics-text.ts";
import { call, deployDoor, expectProblem, fresh } from "../support/api.ts";
import { parsePrometheus, sample } from "../support/prometheus.ts";
import type { Family } from "../support/prometheus.ts";
import { completed, handedOut, oneClaimed, queueName, sqlInQueue } from "../support/tasks.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

async function metrics(apiKey: string): Promise<Map<string, Family>> {
  const answer = await call("GET", "/v1/metrics", { apiKey });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("Content-Type")).toBe("text/plain; version=0.0.4");
  return parsePrometheus(answer.body);
}

const NAMES = {
  perdure_actors: "gauge",
  perdure_actors_needing_attention: "gauge",
  perdure_events_total: "counter",
  perdure_replayed_keys_total: "counter",
  perdure_timers_overdue: "gauge",
  perdure_directory_lag_seconds: "gauge",
  perdure_webhook_backlog: "gauge",
  perdure_queue_tasks: "gauge",
  perdure_queue_oldest_age_seconds: "gauge",
};

describe("the metrics", () => {
  it("are there for a tenant that never did anything", async () => {
    const { apiKey } = await newTenant();
    const families = await metrics(apiKey);
    const types = [...families].map(([name, { type }]) => [name, type]);
    expect(Object.fromEntries(types)).toEqual(NAMES);
    expect(sample(families, "perdure_events_total")).toBe(0);
    expect(families.get("perdure_actors")?.samples).toEqual([]);
    for (const { value } of families.get("perdure_actors_needing_attention")?.samples ?? []) {
      expect(value).toBe(0);
    }
  });

  it("count what the own tenant did, and nobody else", async () => {
    const { apiKey } = await newTenant();
    const definition = await deployDoor({ apiKey });
    const family = definition.replace(/-v1$/, "");
    for (const id of ["a", "b", "c"]) {
      await call("POST", "/v1/actors", { apiKey, body: { definitionId: definition, id } });
    }
    const key = fresh("key");
    const open = { apiKey, key, body: { type: "OPEN" } };
    await call("POST", "/v1/actors/a/events", open);
    // What is closed again before it was told as open is nothing to tell, and its counts come with the alarm.
    await until(
      () => call("GET", "/v1/actors/count?state=open", { apiKey }),
      ({ body }) => body.total === 1,
    );
    await call("POST", "/v1/actors/a/events", open);
    await call("POST", "/v1/actors/b/events", { apiKey, body: { type: "DEMOLISH" } });
    await call("POST", "/v1/actors/a/events", { apiKey, body: { type: "CLOSE" } });
    const families = await until(
      () => metrics(apiKey),
      (now) =>
        sample(now, "perdure_actors", { definition, family, status: "done" }) === 1 &&
        sample(now, "perdure_events_total") === 3,
    );
    expect(sample(families, "perdure_actors", { definition, family, status: "active" })).toBe(2);
    expect(sample(families, "perdure_actors", { definition, family, status: "done" })).toBe(1);
    expect(sample(families, "perdure_events_total")).toBe(3);
    expect(sample(families, "perdure_replayed_keys_total")).toBe(1);
    expect(sample(families, "perdure_timers_overdue")).toBe(0);
    const other = await metrics((await newTenant()).apiKey);
    expect(other.get("perdure_actors")?.samples).toEqual([]);
  });

  it("say how full each queue is", async () => {
    const queue = queueName();
    await handedOut(queue, 2);
    await oneClaimed(queue);
    const families = await metrics("dev");
    expect(sample(families, "perdure_queue_tasks", { queue, status: "open" })).toBe(1);
    expect(sample(families, "perdure_queue_tasks", { queue, status: "claimed" })).toBe(1);
    await sqlInQueue(queue, "UPDATE tasks SET ready_at = ready_at - 3600000");
    const age = sample(await metrics("dev"), "perdure_queue_oldest_age_seconds", { queue });
    expect(Math.abs(Number(age) - 3_600)).toBeLessThan(600);
    await completed(await oneClaimed(queue), 1);
    expect(sample(await metrics("dev"), "perdure_queue_oldest_age_seconds", { queue })).toBe(0);
  });

  it("take no parameters", async () => {
    const { apiKey } = await newTenant();
    expectProblem(await call("GET", "/v1/metrics?x=1", { apiKey }), 400, "unknown_field");
  });
});

describe("the text", () => {
  it("says any help and any labels so that a strict reader gets them back", () => {
    const words = fc.string({ unit: "binary" }).filter((text) => !/[\r\u2028]/.test(text));
    const hostile = fc.oneof(words, fc.constantFrom('"', "\\", "\n", '\\n"', 'a",b="c', "}"));
    fc.assert(
      fc.property(
        hostile,
        hostile,
        fc.double({ noNaN: true, min: 0, max: 1e15 }),
        (one, two, value) => {
          const series = [{ labels: { one, two }, value }];
          const text = metricsText([{ name: "m", help: one, type: "gauge", series }]);
          const [read] = parsePrometheus(text).get("m")?.samples ?? [];
          expect(read).toEqual({ labels: { one, two }, value });
        },
      ),
    );
  });

  it("is one that the strict reader refuses where it is wrong", () => {
    const good = '# HELP m x\n# TYPE m gauge\nm{a="1"} 1\n';
    expect(parsePrometheus(good).get("m")?.samples).toHaveLength(1);
    for (const bad of [
      good.trimEnd(),
      good.replace("# HELP m x\n", ""),
      good.replace("gauge", "thing"),
      good.replace('"1"', '"1'),
      good.replace("} 1", "} one"),
      `${good}m{a="1"} 2\n`,
      `${good}n 2\n`,
      `${good}\n`,
    ]) {
      expect(() => parsePrometheus(bad), bad).toThrow();
    }
  });

  it("has no more series than the limit and one for each status, and loses no actor", () => {
    const count = LIMITS.groupsPerAnswer + 50;
    const classes = Array.from({ length: count }, (_, n) => ({
      definitionId: `d${n}`,
      family: "f",
      status: n % 2 === 0 ? ("active" as const) : ("done" as const),
      stateValue: "a",
      tags: [],
      attention: n === 0 ? ["error" as const, "parked" as const] : [],
      count: n + 1,
    }));
    const shards = { events: 0, replays: 0, overdue: 4, lagMs: 1_250 };
    const text = metricsText(
      fleetMetrics({ classes, shards, backlogs: [{ webhook: "w1", backlog: 7 }], queues: [] }),
    );
    const families = parsePrometheus(text);
    const actors = families.get("perdure_actors")?.samples ?? [];
    expect(actors).toHaveLength(LIMITS.groupsPerAnswer + 2);
    const total = actors.reduce((sum, { value }) => sum + value, 0);
    expect(total).toBe((count * (count + 1)) / 2);
    const others = { definition: "(others)", family: "(others)", status: "active" };
    expect(sample(families, "perdure_actors", others)).toBe(625);
    const needing = (reason: string) =>
      sample(families, "perdure_actors_needing_attention", { reason });
    expect(needing("error")).toBe(1);
    expect(needing("parked")).toBe(1);
    expect(needing("timer_overdue")).toBe(4);
    expect(needing("stranded")).toBe(0);
    expect(sample(families, "perdure_timers_overdue")).toBe(4);
    expect(sample(families, "perdure_directory_lag_seconds")).toBe(1.25);
    expect(sample(families, "perdure_webhook_backlog", { webhook: "w1" })).toBe(7);
  });
});
