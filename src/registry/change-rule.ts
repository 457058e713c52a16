import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { answer } from "../base/reply.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { rampTo } from "../migration/ramp.ts";
import type { RampStep } from "../migration/rule.ts";
import type { Db } from "../storage/db.ts";
import { answerOnce } from "../storage/once.ts";
import { findRule, markSwept, updateRule } from "../storage/registry-rules.ts";
import type { RuleRow } from "../storage/registry-rules.ts";
import { oweSweep } from "../storage/registry-sweeps.ts";
import type { Registry } from "./context.ts";
import { notFound } from "./replies.ts";
import { nextEpoch, rulesEpoch } from "./rules.ts";
import { ruleView } from "./rule-view.ts";
import type { Leased, RuleChange } from "./rpc.ts";

export type ChangeRuleCommand = {
  id: string;
  change: RuleChange;
  /** Null of a PATCH. */
  key: CollectionKey | null;
} & Leased;

/** Pauses, resumes, ends, retries a rule, or changes its share of actors. What changes nothing makes no epoch. */
export function changeRule(registry: Registry, command: ChangeRuleCommand, now: number): Reply {
  const stored = registry.stored();
  const change = () => changed(stored, registry.owe, command, now);
  if (command.key !== null) return answerOnce(stored, registry.open, command.key, now, change);
  return stored ? stored.transaction(change) : change();
}

function changed(
  db: Db | null,
  owe: () => void,
  { id, change, lease }: ChangeRuleCommand,
  now: number,
): Reply {
  const row = db && findRule(db, id);
  if (!db || !row) return notFound("rule_not_found", id);
  if (row.state === "retired" && change !== "retire") {
    return refuse(
      "rule_retired",
      `${id} was retired, and a retired rule stays so. POST /v1/migrations makes a new one.`,
    );
  }
  if (change === "retry") {
    markSwept(db, id, 0);
    oweSweep(db, id, true);
    owe();
    return shown(db, id);
  }
  const step = { epoch: rulesEpoch(db) + 1, inForceAt: now + lease };
  const next = changesOf(row, change, step);
  if (next === null) return shown(db, id);
  if (next.ramp.length > LIMITS.rampSteps) {
    return refuseLimit(
      "rampSteps",
      `The percentage of a rule grows at most ${LIMITS.rampSteps} times. Pause and resume it: it then takes all of its share anew.`,
    );
  }
  const ramp = JSON.stringify(next.ramp);
  const dates = { epoch: nextEpoch(db), in_force_at: step.inForceAt };
  updateRule(db, { ...row, ...next, ramp, ...dates });
  oweSweep(db, id, false);
  owe();
  return shown(db, id);
}

type Changes = Partial<Pick<RuleRow, "state" | "percent">> & { ramp: RampStep[] };

/** Null where it is so already. */
function changesOf(
  { state, percent, ramp: text }: RuleRow,
  change: Exclude<RuleChange, "retry">,
  at: Omit<RampStep, "percent">,
): Changes | null {
  switch (change) {
    case "pause":
      return state === "active" ? { state: "paused", ramp: [] } : null;
    case "resume":
      return state === "paused" ? { state: "active", ramp: [{ ...at, percent }] } : null;
    case "retire":
      return state === "retired" ? null : { state: "retired", ramp: [] };
    default: {
      if (change.percent === percent) return null;
      const ramp = JSON.parse(text) as RampStep[];
      const step = { ...at, percent: change.percent };
      return { percent: change.percent, ramp: state === "active" ? rampTo(ramp, step) : [] };
    }
  }
}

function shown(db: Db, id: string): Reply {
  return answer(200, ruleView(findRule(db, id) as RuleRow));
}
