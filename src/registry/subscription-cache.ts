import { callObject } from "../base/call-object.ts";
import { leaseMs } from "../base/lease.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { given } from "../base/refused.ts";
import type { Env } from "../env.ts";
import type { Subscription } from "../webhooks/rpc.ts";
import { OneAsks } from "./one-asks.ts";

interface Known {
  /** Of the active webhooks. */
  subscriptions: readonly Subscription[];
  /** Of all webhooks, the disabled ones too. */
  ids: readonly string[];
  until: number;
}

type RegistryEnv = Pick<Env, "REGISTRY" | "PERDURE_PROFILE">;

const known = new Lru<Known>({ count: LIMITS.subscriptionsCached });
const questions = new OneAsks(LIMITS.subscriptionsCached);

/** What this isolate may rely on without asking, or null. */
export function knownSubscriptions(tenant: string, now: number): readonly Subscription[] | null {
  return inForce(tenant, now)?.subscriptions ?? null;
}

/**
 * Whether an alarm that makes good a crash can be spared, since nobody is to be told. Trusted a minute longer
 * than the lease, or every event that comes rarely would pay for one: who made a webhook elsewhere in that minute
 * is told all the same, unless a crash ends the moment between the event's commit and the telling.
 */
export function hasHadNone(tenant: string, now: number): boolean {
  const entry = known.get(tenant);
  return entry?.subscriptions.length === 0 && now < entry.until + LIMITS.settleMs;
}

/** In the isolate that changed a webhook; others follow within the lease. */
export function forgetSubscriptions(tenant: string): void {
  known.delete(tenant);
}

/** The tenant's active webhooks. */
export async function subscriptionsOf(
  env: RegistryEnv,
  tenant: string,
): Promise<readonly Subscription[]> {
  return (await knownOf(env, tenant)).subscriptions;
}

/** Ids of all webhooks of the tenant: who may keep what it was told of an actor that goes. */
export async function webhookIdsOf(env: RegistryEnv, tenant: string): Promise<readonly string[]> {
  return (await knownOf(env, tenant)).ids;
}

function inForce(tenant: string, now: number): Known | null {
  const entry = known.get(tenant);
  return entry !== undefined && now < entry.until ? entry : null;
}

/** The tenant's webhooks, asked for once per isolate and lease. */
function knownOf(env: RegistryEnv, tenant: string): Promise<Known> {
  return questions.answer(
    tenant,
    (now) => inForce(tenant, now),
    async (begun) => {
      const all = given(
        await callObject(env.REGISTRY, tenant, true, (registry) => registry.subscriptions()),
      );
      // From before the question: what changed while it was asked is known a lease later all the same.
      const answer: Known = {
        subscriptions: all.filter(({ events }) => events.length > 0),
        ids: all.map(({ id }) => id),
        until: begun + leaseMs(env),
      };
      known.set(tenant, answer);
      return answer;
    },
  );
}
