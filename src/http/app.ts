import type { Hono } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { listRoutes } from "./actor-lists.ts";
import { actorRoutes } from "./actors.ts";
import type { AppEnv } from "./app-env.ts";
import { bulkRoutes } from "./bulk.ts";
import { bulkSpawnRoutes } from "./bulk-spawn.ts";
import { controlRoutes } from "./controls.ts";
import { cors } from "./cors.ts";
import { cronRoutes } from "./cron.ts";
import { statsRoutes } from "./definition-stats.ts";
import { definitionRoutes } from "./definitions.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { eventRoutes } from "./events.ts";
import { inspectionRoutes } from "./inspection.ts";
import { keyRoutes } from "./keys.ts";
import { logRoutes } from "./log-pages.ts";
import { metricsRoutes } from "./metrics.ts";
import { migrationRoutes } from "./migrations.ts";
import { missing } from "./missing.ts";
import { moveRoutes } from "./moves.ts";
import { laterRoutes } from "./not-yet.ts";
import { planRoutes } from "./plans.ts";
import { problemOfError } from "./problem.ts";
import { queueRoutes } from "./queues.ts";
import { requestId } from "./request-id.ts";
import { mount } from "./route.ts";
import type { Route } from "./route.ts";
import { scheduleRoutes } from "./schedules.ts";
import { serviceRoutes } from "./service.ts";
import { streamRoutes } from "./streams.ts";
import { taskRoutes } from "./tasks.ts";
import { trialRoutes } from "./trials.ts";
import { webhookRoutes } from "./webhooks.ts";

const declared: readonly Route[] = [
  ...definitionRoutes,
  ...statsRoutes,
  ...planRoutes,
  ...migrationRoutes,
  ...trialRoutes,
  ...listRoutes,
  ...bulkSpawnRoutes,
  ...actorRoutes,
  ...inspectionRoutes,
  ...eventRoutes,
  ...logRoutes,
  ...streamRoutes,
  ...scheduleRoutes,
  ...controlRoutes,
  ...moveRoutes,
  ...queueRoutes,
  ...taskRoutes,
  ...cronRoutes,
  ...bulkRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...keyRoutes,
  ...metricsRoutes,
];

/** Every route of the OpenAPI document. */
export const routes: readonly Route[] = [...declared, ...serviceRoutes(declared)];

/** The HTTP side of the Worker. */
export function createApp(extra: readonly Route[] = []): Hono<AppEnv> {
  // Hono's usual choice first builds a router that our paths do not fit, then takes this one.
  const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
  // Fixed paths such as /v1/actors/count stand before the patterns that would take them for an id.
  const all = [...extra, ...laterRoutes, ...routes];
  app.use(requestId());
  app.use(cors());
  app.onError(problemOfError);
  app.notFound(missing(all));
  for (const one of all) mount(app, one);
  return app;
}
