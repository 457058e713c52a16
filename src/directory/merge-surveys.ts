import { RULE_OUTCOMES } from "../migration/rule.ts";
import type { Survey, SurveyClass } from "./rpc.ts";
import { spread } from "./spread.ts";
import { noOutcomes, stateText } from "./survey.ts";

const KINDS = ["match", "pending", "diverged", "near"] as const;

/** Sums of what shards say, with samples from all over them. */
export function mergeSurveys(surveys: readonly Survey[], samples: number): Survey {
  const outcomes = noOutcomes();
  let finished = 0;
  for (const survey of surveys) {
    finished += survey.finished;
    for (const outcome of RULE_OUTCOMES) outcomes[outcome] += survey.outcomes[outcome];
  }
  const groups = Map.groupBy(
    surveys.flatMap(({ classes }) => classes),
    stateText,
  );
  const classes = [...groups.values()].map((group) => sum(group, samples));
  return { classes, finished, outcomes };
}

function sum(group: readonly SurveyClass[], samples: number): SurveyClass {
  const { stateValue, status } = group[0] as SurveyClass;
  const total = (kind: (typeof KINDS)[number] | "held") =>
    group.reduce((so, one) => so + one[kind], 0);
  const some = (kind: (typeof KINDS)[number]) =>
    spread(
      group.flatMap((one) => one.samples[kind]),
      samples,
    );
  return {
    stateValue,
    status,
    match: total("match"),
    pending: total("pending"),
    diverged: total("diverged"),
    near: total("near"),
    held: total("held"),
    samples: {
      match: some("match"),
      pending: some("pending"),
      diverged: some("diverged"),
      near: some("near"),
    },
  };
}
