import { leaseMs } from "../base/lease.ts";
import type { Env } from "../env.ts";
import { given } from "../base/refused.ts";
import type { WebhookConfig } from "../registry/rpc.ts";
import type { WebhookName } from "../storage/webhook-schema.ts";

/** What the registry says about one webhook, trusted for a lease. */
export class ConfigLease {
  readonly #env: Pick<Env, "REGISTRY" | "PERDURE_PROFILE">;
  #held: { config: WebhookConfig | null; until: number } | null = null;
  /** What was asked for before it was last forgotten may be older than that, and is not relied on. */
  #forgets = 0;

  constructor(env: Pick<Env, "REGISTRY" | "PERDURE_PROFILE">) {
    this.#env = env;
  }

  /** Null when there is no such webhook. */
  async read({ tenant, id }: WebhookName): Promise<WebhookConfig | null> {
    const begun = Date.now();
    if (this.#held !== null && begun < this.#held.until) return this.#held.config;
    const { REGISTRY } = this.#env;
    for (;;) {
      const forgets = this.#forgets;
      // oxlint-disable-next-line no-await-in-loop -- again only after a change
      const config = given(await REGISTRY.getByName(tenant).webhookConfig(id));
      if (forgets !== this.#forgets) continue;
      this.#held = { config, until: begun + leaseMs(this.#env) };
      return config;
    }
  }

  /** The receiver at `url` wants no more. */
  async disable({ tenant, id }: WebhookName, url: string, reason: string): Promise<void> {
    this.forget();
    given(await this.#env.REGISTRY.getByName(tenant).disableWebhook({ id, url, reason }));
    this.forget();
  }

  forget(): void {
    this.#forgets += 1;
    this.#held = null;
  }
}
