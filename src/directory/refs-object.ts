import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** One shard of a tenant's references to actors. */
export class RefsObject extends DurableObject<Env> {}
