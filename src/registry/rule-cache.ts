import { callObject, isOlder } from "../base/call-object.ts";
import { PerdureError } from "../base/errors.ts";
import { leaseMs } from "../base/lease.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { given } from "../base/refused.ts";
import type { Env } from "../env.ts";
import { compile } from "../migration/compile.ts";
import type { Compiled } from "../migration/compile.ts";
import { parsePattern } from "../migration/pattern.ts";
import type { Rule, RuleSet } from "../migration/rule.ts";
import { OneAsks } from "./one-asks.ts";

/** A rule that is ready to decide. */
export interface ReadyRule {
  readonly rule: Rule;
  readonly compiled: Compiled;
}

/** A tenant's rules as of one epoch. The same object as long as the epoch is the same. */
export interface Rules {
  readonly epoch: number;
  /** Of their JSON. */
  readonly chars: number;
  /** Those about actors of a definition, paused ones too. */
  from(definitionId: string): readonly ReadyRule[];
}

interface Known {
  rules: Rules;
  /** ms; trusted until then. */
  until: number;
}

type RegistryEnv = Pick<Env, "REGISTRY" | "PERDURE_PROFILE">;

const NONE: readonly ReadyRule[] = [];

const known = new Lru<Known>({
  count: LIMITS.ruleSetsCached,
  weight: LIMITS.ruleSetCharsCached,
});
const questions = new OneAsks(LIMITS.ruleSetsCached);
/** A new number per tenant whenever its rules are forgotten: what was asked for before is then not remembered. */
const forgotten = new Lru<number>({ count: LIMITS.ruleSetsCached });
let forgets = 0;

/** What this isolate may rely on without asking, or null; no older than `epoch`. */
export function knownRules(tenant: string, epoch: number, now: number): Rules | null {
  const entry = known.get(tenant);
  return entry !== undefined && now < entry.until && entry.rules.epoch >= epoch
    ? entry.rules
    : null;
}

/** In the isolate that changed a rule; others follow within the lease. */
export function forgetRules(tenant: string): void {
  forgets += 1;
  forgotten.set(tenant, forgets);
  known.delete(tenant);
}

/** The tenant's rules, no older than `epoch`, asked for once per isolate and lease. */
export function rulesOf(env: RegistryEnv, tenant: string, epoch: number): Promise<Rules> {
  return questions.answer(
    tenant,
    (now) => knownRules(tenant, epoch, now),
    (begun) => ask(env, tenant, epoch, begun),
  );
}

async function ask(env: RegistryEnv, tenant: string, epoch: number, begun: number): Promise<Rules> {
  const before = forgotten.get(tenant);
  const set = await setOf(env, tenant);
  if (set.epoch < epoch) {
    throw new PerdureError(
      "unavailable",
      `The migration rules that the registry has are of epoch ${set.epoch}; the actor has gone by those of epoch ${epoch}. Send the same request again.`,
    );
  }
  const last = known.get(tenant)?.rules;
  const rules = last?.epoch === set.epoch ? last : readyRules(set);
  // From before the question: what changed while it was asked is known a lease later all the same.
  if (forgotten.get(tenant) === before && (last === undefined || last.epoch <= set.epoch)) {
    const weight = Math.min(rules.chars, LIMITS.ruleSetCharsCached);
    known.set(tenant, { rules, until: begun + leaseMs(env) }, weight);
  }
  return rules;
}

/** A registry of the version before rules has none; who has gone by some before waits until it is back. */
async function setOf({ REGISTRY }: RegistryEnv, tenant: string): Promise<RuleSet> {
  try {
    return given(await callObject(REGISTRY, tenant, true, (registry) => registry.rules()));
  } catch (error) {
    if (isOlder(error)) return { epoch: 0, rules: [] };
    throw error;
  }
}

function readyRules({ epoch, rules }: RuleSet): Rules {
  const byFrom = new Map<string, ReadyRule[]>();
  for (const rule of rules) {
    const others = byFrom.get(rule.from) ?? [];
    others.push(readyRule(rule));
    byFrom.set(rule.from, others);
  }
  const chars = JSON.stringify(rules).length;
  return { epoch, chars, from: (definitionId) => byFrom.get(definitionId) ?? NONE };
}

/** @throws `unavailable` for a rule that a newer version of the server made. */
export function readyRule(rule: Rule): ReadyRule {
  const parsed = parsePattern(rule);
  if (parsed.ok) return { rule, compiled: compile(parsed.pattern) };
  throw new PerdureError(
    "unavailable",
    `This version of the server cannot read the migration rule '${rule.id}'. Deploy the newer version.`,
  );
}
