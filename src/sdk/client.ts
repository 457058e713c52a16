import { actorsApi } from "./actors.ts";
import type { ActorsApi } from "./actors.ts";
import { bulkApi } from "./bulk.ts";
import type { BulkApi } from "./bulk.ts";
import { controlApi } from "./control.ts";
import type { ControlApi } from "./control.ts";
import { definitionsApi } from "./definitions.ts";
import type { DefinitionsApi } from "./definitions.ts";
import { eventsApi } from "./events.ts";
import type { EventsApi } from "./events.ts";
import { fleetApi } from "./fleet.ts";
import type { FleetApi } from "./fleet.ts";
import { keysApi } from "./keys.ts";
import type { KeysApi } from "./keys.ts";
import { migrationsApi } from "./migrations.ts";
import type { MigrationsApi } from "./migrations.ts";
import { movesApi } from "./moves.ts";
import type { MovesApi } from "./moves.ts";
import { retryPolicy } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import { schedulesApi } from "./schedules.ts";
import type { SchedulesApi } from "./schedules.ts";
import { workApi } from "./tasks.ts";
import type { WorkApi } from "./tasks.ts";
import { checkedTimeout, Transport } from "./transport.ts";
import type { CallOptions, Fetch } from "./transport.ts";
import { webhooksApi } from "./webhooks.ts";
import type { WebhooksApi } from "./webhooks.ts";

export interface ClientOptions {
  /** Address of the server, such as `http://127.0.0.1:8787`; a path below it is kept. */
  baseUrl: string;
  apiKey: string;
  /** Instead of the runtime's own. */
  fetch?: Fetch | undefined;
  /** How calls that may be repeated are repeated; `false`: not at all. */
  retry?: Partial<RetryPolicy> | false | undefined;
  /** ms for one attempt; 30 s unless told. */
  timeoutMs?: number | undefined;
}

export interface Client
  extends DefinitionsApi, ActorsApi, FleetApi, EventsApi, ControlApi, MovesApi, WorkApi {
  bulk: BulkApi;
  /** Rules that move live actors from one version to another. */
  migrations: MigrationsApi;
  keys: KeysApi;
  /** Recurring schedules. */
  schedules: SchedulesApi;
  webhooks: WebhooksApi;
  /** Whether the server answers, and its version. */
  health(options?: CallOptions): Promise<{ status: "ok"; version: string }>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** The address without trailing slashes. Throws a TypeError when it is none of http or https. */
function checkedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an absolute http or https address");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must have no user name, password, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

/** The key, or a TypeError that does not show it: a runtime's own complaint about a header would. */
function checkedApiKey(apiKey: string): string {
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError("apiKey must be a text of visible ASCII characters");
}

/**
 * A client of one server and one API key. Its methods need no `this`; every failure that comes
 * from a call is a `PerdureError`, and an argument that cannot be meant is a TypeError or
 * RangeError.
 */
export function createClient(options: ClientOptions): Client {
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
  const transport = new Transport({
    baseUrl: checkedBaseUrl(options.baseUrl),
    apiKey: checkedApiKey(options.apiKey),
    fetch,
    retry: retryPolicy(options.retry),
    timeoutMs: checkedTimeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
  });
  return {
    ...definitionsApi(transport),
    ...actorsApi(transport),
    ...fleetApi(transport),
    ...eventsApi(transport),
    ...controlApi(transport),
    ...movesApi(transport),
    ...workApi(transport),
    bulk: bulkApi(transport),
    migrations: migrationsApi(transport),
    keys: keysApi(transport),
    schedules: schedulesApi(transport),
    webhooks: webhooksApi(transport),
    async health(callOptions) {
      const call = { method: "GET", path: "/v1/health", options: callOptions } as const;
      return (await transport.send<{ status: "ok"; version: string }>(call)).body;
    },
  };
}
