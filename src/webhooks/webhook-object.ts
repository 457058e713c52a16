import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** The deliveries of one webhook. */
export class WebhookObject extends DurableObject<Env> {}
