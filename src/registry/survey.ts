import { callAll } from "../base/call-all.ts";
import { shardNames } from "../base/ids.ts";
import { given } from "../base/refused.ts";
import type { RuleQuery } from "../directory/rpc.ts";
import { mergeClasses } from "../migration/plan.ts";
import type { DecidedClass } from "../migration/plan.ts";
import type { Registry } from "./context.ts";
import { shards } from "./settings.ts";

/** What a rule says of all living actors of its definition, by state; null where the server keeps no directory. */
export async function surveyAll(
  { env, tenant, stored, open }: Registry,
  query: RuleQuery,
  samples: number,
): Promise<DecidedClass[] | null> {
  if (env.PERDURE_DIRECTORY === "off") return null;
  const count = shards(stored(), open, false, undefined) ?? 0;
  const names = shardNames(tenant, count);
  const surveyed = (
    await callAll(env.DIRECTORY, names, (shard) => shard.survey({ ...query, samples }))
  ).map((answer) => given(answer).value.classes);
  return mergeClasses(surveyed, samples);
}
