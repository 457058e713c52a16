import { LIMITS } from "../base/limits.ts";
import type { ClassCount, ShardFigures } from "../directory/rpc.ts";
import { ATTENTION_REASONS } from "../lifecycle/types.ts";
import type { NamedStats } from "./queue-call.ts";
import type { Metric } from "./metrics-text.ts";

/** What one tenant's fleet is measured by. */
export interface Figures {
  classes: readonly ClassCount[];
  shards: ShardFigures;
  /** Deliveries still to be made, by webhook. */
  backlogs: readonly { webhook: string; backlog: number }[];
  queues: readonly NamedStats[];
}

// No id has a bracket, so nothing is called so.
const OTHERS = "(others)";

/** The metrics of `GET /v1/metrics`: docs/metrics.md. */
export function fleetMetrics({ classes, shards, backlogs, queues }: Figures): Metric[] {
  return [
    {
      name: "perdure_actors",
      help: "Actors by definition and status.",
      type: "gauge",
      series: actorSeries(classes),
    },
    {
      name: "perdure_actors_needing_attention",
      help: "Actors that somebody should look at, by reason; one actor may have several.",
      type: "gauge",
      series: attentionSeries(classes, shards.overdue),
    },
    single("perdure_events_total", "counter", "Events recorded by actors.", shards.events),
    single(
      "perdure_replayed_keys_total",
      "counter",
      "Repeats of idempotency keys that were answered again.",
      shards.replays,
    ),
    single("perdure_timers_overdue", "gauge", "Actors with an overdue timer.", shards.overdue),
    single(
      "perdure_directory_lag_seconds",
      "gauge",
      "Longest time that a change took to reach the directory, of those that arrived in the last minute; one that has not arrived is not seen.",
      shards.lagMs / 1000,
    ),
    {
      name: "perdure_webhook_backlog",
      help: "Deliveries still to be made, by webhook.",
      type: "gauge",
      series: backlogs.map(({ webhook, backlog }) => ({ labels: { webhook }, value: backlog })),
    },
    {
      name: "perdure_queue_tasks",
      help: "Tasks and approvals that have not ended, by queue and status.",
      type: "gauge",
      series: queues.flatMap(({ name: queue, depth, claimed }) => [
        { labels: { queue, status: "open" }, value: depth },
        { labels: { queue, status: "claimed" }, value: claimed },
      ]),
    },
    {
      name: "perdure_queue_oldest_age_seconds",
      help: "How long the open task that waits longest has been waiting, by queue; 0 where none is open.",
      type: "gauge",
      series: queues.map(({ name: queue, oldestAgeMs }) => ({
        labels: { queue },
        value: (oldestAgeMs ?? 0) / 1000,
      })),
    },
  ];
}

function single(name: string, type: Metric["type"], help: string, value: number): Metric {
  return { name, help, type, series: [{ labels: {}, value }] };
}

/** The largest series; the rest in one for each status, so that many definitions are no flood. */
function actorSeries(classes: readonly ClassCount[]): Metric["series"] {
  const all = new Map<string, Metric["series"][number]>();
  for (const { definitionId, family, status, count } of classes) {
    add(all, { definition: definitionId, family, status }, count);
  }
  const sorted = [...all.values()].sort((a, b) => b.value - a.value);
  const series = sorted.slice(0, LIMITS.groupsPerAnswer);
  const rest = new Map<string, Metric["series"][number]>();
  for (const { labels, value } of sorted.slice(LIMITS.groupsPerAnswer)) {
    add(rest, { definition: OTHERS, family: OTHERS, status: labels["status"] ?? "" }, value);
  }
  return [...series, ...rest.values()];
}

function attentionSeries(classes: readonly ClassCount[], overdueActors: number): Metric["series"] {
  const all = new Map<string, Metric["series"][number]>();
  for (const reason of ATTENTION_REASONS) add(all, { reason }, 0);
  for (const { attention, count } of classes) {
    for (const reason of attention) if (reason !== "timer_overdue") add(all, { reason }, count);
  }
  add(all, { reason: "timer_overdue" }, overdueActors);
  return [...all.values()];
}

function add(
  all: Map<string, Metric["series"][number]>,
  labels: { [name: string]: string },
  value: number,
): void {
  const key = JSON.stringify(labels);
  const known = all.get(key);
  if (known) known.value += value;
  else all.set(key, { labels, value });
}
