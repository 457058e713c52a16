import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** One shard of a tenant's directory of actors. */
export class DirectoryObject extends DurableObject<Env> {}
