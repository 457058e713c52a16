import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Env } from "../env.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";

type WatchEnv = Pick<Env, "CRON" | "WEBHOOKS" | "QUEUES">;

/**
 * The platform drops an alarm whose handler fails for two minutes, as under a deployment that does not work. What
 * then waits for its next alarm would wait for ever, so the registry, which has one of its own for this, looks at
 * the tenant's schedules, webhooks and queues every hour while there is something to look at.
 */
export class Watch {
  readonly #alarm: AlarmClock;
  readonly #env: WatchEnv;

  constructor(alarm: AlarmClock, env: WatchEnv) {
    this.#alarm = alarm;
    this.#env = env;
  }

  /** From now on, if it did not yet. */
  async begin(): Promise<void> {
    await this.#alarm.known();
    this.#alarm.remind(Date.now() + LIMITS.watchMs);
  }

  /** What the alarm does. Never throws. `webhooks`: ids of those that send; `queues`: names of all. */
  async ring(tenant: string, webhooks: () => string[], queues: () => string[]): Promise<void> {
    const outcomes = await Promise.all([
      tried(() => callObject(this.#env.CRON, tenant, true, (cron) => cron.tend())),
      tried(async () => {
        const ids = webhooks();
        await Promise.all(
          ids.map((id) =>
            tried(() =>
              callObject(this.#env.WEBHOOKS, `${tenant}/${id}`, true, (webhook) => webhook.tend()),
            ),
          ),
        );
        return ids.length > 0;
      }),
      tried(async () => {
        const looks = queues().map((name) =>
          tried(() =>
            callObject(this.#env.QUEUES, `${tenant}/${name}`, true, (queue) => queue.tend()),
          ),
        );
        return (await Promise.all(looks)).some((goesOn) => goesOn !== false);
      }),
    ]);
    if (outcomes.some((goesOn) => goesOn !== false)) {
      this.#alarm.remind(Date.now() + LIMITS.watchMs);
    }
  }
}

/** Null where it failed. */
async function tried<Result>(look: () => Promise<Result>): Promise<Result | null> {
  try {
    return await look();
  } catch (error) {
    logError("warn", error, { during: "watch" });
    return null;
  }
}
