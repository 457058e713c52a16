import type { ActorRpc } from "./actor/rpc.ts";
import type { Objects } from "./base/call-object.ts";
import type { BulkRpc } from "./bulk/rpc.ts";
import type { CronRpc } from "./cron/rpc.ts";
import type { DirectoryRpc, RefsRpc } from "./directory/rpc.ts";
import type { RegistryRpc } from "./registry/rpc.ts";
import type { SweepRpc } from "./sweep/rpc.ts";
import type { QueueRpc } from "./tasks/rpc.ts";
import type { WebhookRpc } from "./webhooks/rpc.ts";

export type { Objects };

export interface Env {
  /** One object per actor, named `tenant/actorId`. */
  ACTORS: Objects<ActorRpc>;
  /** One object per tenant, named by it: definitions, API keys, webhooks. */
  REGISTRY: Objects<RegistryRpc>;
  /** Shards of a tenant's index of actors, named `tenant/number`. */
  DIRECTORY: Objects<DirectoryRpc>;
  /** Shards of a tenant's references to actors, named `tenant/number`. */
  REFS: Objects<RefsRpc>;
  /** One object per bulk operation, named `tenant/bulkId`. */
  BULK: Objects<BulkRpc>;
  /** One object per tenant, named by it: recurring schedules. */
  CRON: Objects<CronRpc>;
  /** One object per webhook, named `tenant/webhookId`: its deliveries. */
  WEBHOOKS: Objects<WebhookRpc>;
  /** One object per migration rule, named `tenant/ruleId`: its sweep. */
  SWEEPS: Objects<SweepRpc>;
  /** One object per queue of tasks, named `tenant/queue`. */
  QUEUES: Objects<QueueRpc>;
  /** `development` gives the key `dev`; anything else, or nothing, is production. */
  PERDURE_PROFILE?: string;
  /** Secret; the bootstrap admin key of production. */
  PERDURE_ADMIN_KEY?: string;
  /** `1` lets `POST …/clock/advance` move an actor's clock. */
  PERDURE_TEST_CLOCK?: string;
  /** Shards of a tenant's directory, 1 to 256; read once, when a tenant spawns its first actor. */
  PERDURE_SHARDS?: string;
  /** `off` keeps no directory: nothing can be listed. For measurements. */
  PERDURE_DIRECTORY?: string;
  /** Actors that sweeps and bulk operations may wake each second; the launcher derives it from how many files may be open. */
  PERDURE_WAKES_PER_SECOND?: string;
  /** `1` lets webhooks and `http` activities reach private and loopback addresses, as the development profile does. */
  PERDURE_PRIVATE_TARGETS?: string;
  /** Origins allowed by CORS, separated by commas, or `*`. Off when unset. */
  CORS_ORIGINS?: string;
}
