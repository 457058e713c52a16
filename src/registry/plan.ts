import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { RuleQuery } from "../directory/rpc.ts";
import { planOf, samplesOf } from "../migration/plan.ts";
import type { Plan } from "../migration/plan.ts";
import { alphabetOf, learnAlphabet } from "./alphabet.ts";
import { landClasses } from "./class-landing.ts";
import type { Registry } from "./context.ts";
import type { Draft } from "./rule-draft.ts";
import { surveyAll } from "./survey.ts";

export interface Planned {
  plan: Plan;
  /** Ids of actors that match, of all states in turn. */
  replaySample: string[];
  /** ms since 1970. */
  asOf: number;
}

/** What a rule that is not made yet would do with the actors that there are; null where the server keeps no directory. */
export async function planRule(
  registry: Registry,
  { from, to, rule }: Pick<Draft, "from" | "to" | "rule">,
  replay: number,
  now: number,
): Promise<Planned | null> {
  const { historyPath, match, since, percent, stateMapping } = rule;
  await learnAlphabet(registry.stored, from.family);
  const query: RuleQuery = {
    ruleId: null,
    from: from.id,
    historyPath,
    match,
    since,
    percent,
    alphabet: alphabetOf(registry.stored(), from.family),
  };
  const asked = Math.max(LIMITS.planSamples, replay);
  const classes = await surveyAll(registry, query, asked);
  if (classes === null) return null;
  const landed = await landClasses(from, to, stateMapping, classes);
  const plan = planOf(from.id, landed, {
    states: LIMITS.planStates,
    samples: LIMITS.planSamples,
  });
  return { plan, replaySample: samplesOf(classes, "match", replay), asOf: now };
}

/** Of a version that moves nobody. */
export function emptyPlan(definitionId: string, now: number): Planned {
  const plan = planOf(definitionId, [], { states: 0, samples: 0 });
  return { plan, replaySample: [], asOf: now };
}

/** A plan on the wire, without what confirms it. */
export function planView({ plan, asOf }: Planned): JsonObject {
  return { ...(plan as unknown as JsonObject), asOf: isoTime(asOf) };
}
