import { createApp } from "./http/app.ts";

export { ActorObject } from "./actor/actor-object.ts";
export { BulkObject } from "./bulk/bulk-object.ts";
export { CronObject } from "./cron/cron-object.ts";
export { DirectoryObject } from "./directory/directory-object.ts";
export { QueueObject } from "./tasks/queue-object.ts";
export { RefsObject } from "./directory/refs-object.ts";
export { RegistryObject } from "./registry/registry-object.ts";
export { SweepObject } from "./sweep/sweep-object.ts";
export { WebhookObject } from "./webhooks/webhook-object.ts";

export default createApp();
