import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** One bulk operation. */
export class BulkObject extends DurableObject<Env> {}
