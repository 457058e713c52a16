import * as z from "zod/mini";
import { PerdureError } from "../../base/errors.ts";
import { RESERVED_DATA_KEY, dataFault, isJsonObject } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { MATCHES, SINCES } from "../../migration/pattern.ts";
import { ON_UNMAPPABLE } from "../../migration/rule.ts";
import type { Mapping } from "../../migration/rule.ts";
import type { RuleInput } from "../../registry/rpc.ts";
import { id, jsonObject, shortText } from "./inputs.ts";

// What makes a migration rule, wherever one is written: a deploy, a rule of its own, and their previews.

const stateMapping = z.custom<Mapping["stateMapping"]>(
  isStateMapping,
  "must be an object of state paths, each with a path or a list of paths",
);

const contextMapping = jsonObject.check(
  z.refine(
    (mapping) => dataFault(mapping, LIMITS.jsonDepth) !== "reserved_key",
    `must not have the key ${RESERVED_DATA_KEY}`,
  ),
);

export const percent = z.number().check(z.minimum(0), z.maximum(100));

const ruleMembers = {
  historyPath: z.optional(z.array(z.string())).check(
    z.meta({
      description:
        "Names of events, and of steps of the system, in the order in which an actor must have handled them.",
    }),
  ),
  match: z
    .optional(z.enum(MATCHES))
    .check(z.meta({ description: "prefix when left out; all takes everyone and has no path." })),
  since: z.optional(z.enum(SINCES)).check(
    z.meta({
      description:
        "Where histories begin: at the actor's birth, as when left out, or when it came to the definition.",
    }),
  ),
  stateMapping: z.optional(stateMapping).check(
    z.meta({
      type: "object",
      additionalProperties: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
      },
      description:
        "Paths of old states to paths of new ones; what is not named keeps its own path.",
    }),
  ),
  contextMapping: z.optional(contextMapping).check(
    z.meta({
      description: "Dotted paths in the context to values with expressions, laid over the old one.",
    }),
  ),
  onUnmappable: z.optional(z.enum(ON_UNMAPPABLE)).check(
    z.meta({
      description:
        "Whether an actor that cannot be moved stays, running, as when left out, or is stopped.",
    }),
  ),
  percent: z
    .optional(percent)
    .check(z.meta({ description: "Of actors that the rule may take; 100 when left out." })),
};

const confirmToken = z
  .optional(z.string().check(z.maxLength(LIMITS.textChars)))
  .check(z.meta({ description: "Of the plan of this very body, younger than 10 minutes." }));

/** Of a deploy. */
export const deployMembers = {
  id,
  definition: jsonObject,
  parentId: z.optional(z.nullable(id)).check(
    z.meta({
      description:
        "The definition that this one follows from. Who of its actors moves is said by historyPath, or by match all; without both nobody does.",
    }),
  ),
  ...ruleMembers,
  confirmToken,
};

/** Of a rule of its own. */
export const migrationMembers = {
  from: id,
  to: id,
  ...ruleMembers,
  replaces: z
    .optional(id)
    .check(z.meta({ description: "A rule that is retired at the same moment." })),
  confirmToken,
};

export const replay = z
  .optional(z.strictObject({ sample: z.int().check(z.minimum(1), z.maximum(LIMITS.planReplays)) }))
  .check(
    z.meta({ description: "Replays the logs of as many actors that match on the new version." }),
  );

export const rollbackBody = z.strictObject({ reason: z.optional(shortText) });

export const rescueBody = z.strictObject({
  stateValue: z.optional(
    z
      .custom<string | object>(
        (value) => typeof value === "string" || isJsonObject(value),
        "must be a state's key, or an object of them",
      )
      .check(z.meta({ type: ["string", "object"] })),
  ),
  context: z.optional(jsonObject),
  definitionId: z
    .optional(id)
    .check(z.meta({ description: "Another definition of the same family." })),
  reason: shortText,
});

type Members = {
  [Name in keyof typeof ruleMembers]?: z.infer<(typeof ruleMembers)[Name]>;
};

/** Whether the members say who moves. */
function movesActors({ historyPath, match }: Members): boolean {
  return historyPath !== undefined || match === "all";
}

/** The rule that the members make. */
function ruleInput(members: Members): RuleInput {
  return {
    historyPath: members.historyPath ?? [],
    match: members.match ?? "prefix",
    since: members.since ?? "birth",
    stateMapping: members.stateMapping ?? {},
    contextMapping: members.contextMapping ?? {},
    onUnmappable: members.onUnmappable ?? "stay",
    percent: members.percent ?? 100,
  };
}

/** The rule of a deploy; null where nobody moves. Refuses what would be left out of account. */
export function ruleOfDeploy(
  body: Members & { parentId?: string | null | undefined },
): RuleInput | null {
  const first = Object.keys(ruleMembers).find((name) => body[name as keyof Members] !== undefined);
  if (first === undefined) return null;
  if ((body.parentId ?? null) === null) {
    throw required("parentId", `${first} needs a parentId to move from.`);
  }
  if (movesActors(body)) return ruleInput(body);
  throw required(
    "historyPath",
    `${first} is about who moves: say it by a historyPath or by match "all". With parentId alone nobody does.`,
  );
}

/** The rule of a body that is about nothing else. */
export function ruleOfMigration(body: Members): RuleInput {
  if (movesActors(body)) return ruleInput(body);
  throw required("historyPath", 'Say who moves, by a historyPath or by match "all".');
}

function required(member: string, detail: string): PerdureError {
  return new PerdureError("invalid_request", detail, {
    errors: [{ pointer: `/${member}`, code: "required", message: "is required" }],
  });
}

function isStateMapping(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.values(value).every(
      (to) =>
        typeof to === "string" ||
        (Array.isArray(to) && to.length > 0 && to.every((path) => typeof path === "string")),
    )
  );
}
