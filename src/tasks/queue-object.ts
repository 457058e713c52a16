import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** One queue of tasks. */
export class QueueObject extends DurableObject<Env> {}
