import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** The recurring schedules of one tenant. */
export class CronObject extends DurableObject<Env> {}
