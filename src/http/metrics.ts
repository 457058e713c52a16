import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { countActors, fleetFigures } from "../directory/fleet.ts";
import type { Env } from "../env.ts";
import { given } from "../base/refused.ts";
import { fleetMetrics } from "./fleet-metrics.ts";
import type { Figures } from "./fleet-metrics.ts";
import { requireDirectory } from "./fleet.ts";
import { metricsText } from "./metrics-text.ts";
import { queueNames, queueStatsOf } from "./queue-call.ts";
import { route } from "./route.ts";
import { text } from "./schemas/json-schema.ts";

const PROMETHEUS_TEXT = "text/plain; version=0.0.4";

export const metricsRoutes = [
  route({
    method: "get",
    path: "/v1/metrics",
    tag: "Service",
    name: "metrics",
    summary: "Numbers of the own tenant for Prometheus",
    scope: "read",
    answers: {
      200: {
        description: "The Prometheus text format.",
        mediaType: PROMETHEUS_TEXT,
        schema: text,
      },
    },
    refusals: [],
    async handle({ context, env, principal }) {
      const { tenant } = principal;
      requireDirectory(env);
      const [classes, shards, backlogs, queues] = await Promise.all([
        countActors(env, tenant, { filter: {}, refs: {} }),
        fleetFigures(env, tenant),
        webhookBacklogs(env, tenant),
        queueNames(env, principal).then((names) => queueStatsOf(env, principal, names)),
      ]);
      const metrics = fleetMetrics({ classes, shards, backlogs, queues });
      return context.body(metricsText(metrics), 200, { "Content-Type": PROMETHEUS_TEXT });
    },
  }),
];

/** Of all webhooks, disabled ones too: what was theirs to deliver may still be there. */
async function webhookBacklogs(env: Env, tenant: string): Promise<Figures["backlogs"]> {
  // All that a tenant may have are one page.
  const asked = { limit: LIMITS.pageMost, cursor: null, lease: 0 };
  const reply = await callObject(env.REGISTRY, tenant, true, (registry) =>
    registry.listWebhooks(asked),
  );
  const { items } = given(reply).body as unknown as { items: { id: string }[] };
  return await Promise.all(
    items.map(async ({ id: webhook }) => {
      const backlog = await callObject(env.WEBHOOKS, `${tenant}/${webhook}`, true, (object) =>
        object.backlog(),
      );
      return { webhook, backlog: given(backlog) };
    }),
  );
}
