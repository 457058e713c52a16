import { MATCHES, SINCES } from "../../../migration/pattern.ts";
import { ON_UNMAPPABLE, RULE_OUTCOMES } from "../../../migration/rule.ts";
import {
  anyObject,
  anything,
  count,
  flag,
  instant,
  list,
  object,
  oneOf,
  orNull,
  ref,
  text,
} from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { fingerprint, nearMisses } from "./fragments.ts";

const rule = {
  id: { ...text, pattern: "^r_[0-9a-f]{16}$" },
  from: text,
  to: text,
  historyPath: list(text),
  match: oneOf(...MATCHES),
  since: oneOf(...SINCES),
  stateMapping: {
    type: "object",
    additionalProperties: { anyOf: [text, list(text)] },
  },
  contextMapping: anyObject,
  onUnmappable: oneOf(...ON_UNMAPPABLE),
  percent: { type: "number", minimum: 0, maximum: 100 },
  state: {
    ...oneOf("sweeping", "active", "paused", "retired"),
    description:
      "sweeping until all who match or may match were asked; active then, for those who may come.",
  },
  deployedAt: instant,
  inForceAt: { ...instant, description: "When every actor goes by its last change." },
  replaces: orNull(text),
  replacedBy: orNull(text),
};

const decision = oneOf("pending", "match", "diverged");

const carried = object({ kept: count, cancelled: count, started: count });

export const MIGRATIONS: { [name: string]: JsonSchema } = {
  Plan: object({
    total: { ...count, description: "Living actors on the definition they would come from." },
    match: count,
    pending: count,
    diverged: count,
    nearMisses,
    byState: list(
      object({
        definitionId: text,
        stateValue: ref("StateValue"),
        targetStateValue: orNull(ref("StateValue")),
        count,
        class: decision,
      }),
    ),
    "others?": { ...count, description: "Actors of states and classes that are not listed." },
    unmappableTotal: { ...count, description: "Those that match and cannot be moved." },
    unmappable: list(
      object({ stateValue: ref("StateValue"), reason: text, count, sampleIds: list(text) }),
    ),
    timers: carried,
    activities: carried,
    sampleIds: object({
      match: list(text),
      pending: list(text),
      diverged: list(text),
      nearMisses: list(text),
    }),
    "replay?": list(
      object({
        actorId: text,
        ran: flag,
        "reason?": { ...text, description: "Why its log could not be run; the words of Problem." },
        "firstDivergence?": object({ seq: count, expected: anything, actual: anything }),
      }),
    ),
    warnings: list(ref("Fault")),
    confirmToken: text,
    asOf: instant,
  }),
  Rule: object(rule),
  RuleMade: object({ ...rule, warnings: list(ref("Fault")), "nearMisses?": nearMisses }),
  RuleProgress: object({
    ...rule,
    counts: object({
      match: { ...count, description: "Those that were moved too." },
      migrated: count,
      pending: count,
      diverged: count,
      unmappable: { ...count, description: "Those that it stopped too." },
      heldByCanary: { ...count, description: "They match, and the percentage leaves them out." },
      finished: { ...count, description: "They ended where the rule would take them from." },
      failed: { ...count, description: "They could not be asked." },
    }),
    sweep: object({
      startedAt: orNull(instant),
      finishedAt: orNull(instant),
      visited: { ...count, description: "Entries of the directory that it went over." },
      woken: { ...count, description: "Actors that it asked." },
    }),
  }),
  RuleItem: object({
    actorId: text,
    outcome: oneOf(...RULE_OUTCOMES, "failed"),
    "reason?": text,
    decidedAtSeq: {
      ...orNull(count),
      description: "The record after which the rule matched; null where it could not be asked.",
    },
    at: instant,
  }),
  ActorDecision: object({
    ruleId: text,
    from: text,
    to: text,
    decision,
    outcome: oneOf("migrated", "unmappable", "stranded", "held", "rolled_back", "none"),
    "reason?": text,
    decidedAtSeq: {
      ...orNull(count),
      description: "The record that decided it; null while pending.",
    },
    fingerprint: { ...fingerprint, description: "Of the history by which it was decided." },
    "at?": instant,
  }),
};
