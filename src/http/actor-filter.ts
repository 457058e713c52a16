import * as z from "zod/mini";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { overLimit } from "../base/over-limit.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Filter } from "../directory/rpc.ts";
import { ACTOR_STATUSES, ATTENTION_REASONS } from "../lifecycle/types.ts";
import { id, instantText, refValue, refs } from "./schemas/inputs.ts";

/** characters; a path of keys of a definition's deepest state, with the points between them. */
const STATE_PATH_CHARS = LIMITS.stateDepth * (LIMITS.stateKeyChars + 1);

const members = {
  definitionId: z
    .optional(id)
    .check(z.meta({ description: "A definition's own id; a family's name goes into family." })),
  family: z.optional(id).check(z.meta({ description: "The machine's own id." })),
  status: z.optional(z.enum(ACTOR_STATUSES)),
  state: z
    .optional(z.string().check(z.minLength(1), z.maxLength(STATE_PATH_CHARS)))
    .check(z.meta({ description: "Path of an active state, on its own or inside parallel ones." })),
  tag: z.optional(z.string().check(z.minLength(1), z.maxLength(LIMITS.textChars))),
};

const reasons = z.enum(["true", "false", ...ATTENTION_REASONS]);
const attentionMeta = z.meta({
  description: "true: somebody should look at it; false: nobody has to; or why.",
});

const updatedAfter = z
  .optional(instantText)
  .check(z.meta({ description: "The last record is younger.", format: "date-time" }));

/** Parameters that select actors, for the queries of lists and counts. */
export const filterParameters = {
  ...members,
  "ref.<name>": z.optional(refs(refValue)).check(
    z.meta({
      description: `One parameter for each reference that the actor has to have, such as ref.invoice=2024-17; at most ${LIMITS.refsPerFilter}.`,
    }),
  ),
  attention: z.optional(reasons).check(attentionMeta),
  updatedAfter,
};

/** The same as members of an object, where `ref.<name>` is another spelling of a member of `refs`. */
export const filterObject = z.pipe(
  z.transform(joinRefs),
  z.strictObject({
    ...members,
    attention: z.optional(z.union([z.boolean(), reasons])).check(attentionMeta),
    updatedAfter,
    refs: z.optional(refs(refValue)).check(
      z.meta({
        description: `References that the actor has to have, at most ${LIMITS.refsPerFilter}; \`ref.<name>\` beside it is the same.`,
      }),
    ),
  }),
);

type Given = Omit<z.infer<typeof filterObject>, "refs">;

/** What a filter selects. */
interface Selection {
  filter: Filter;
  refs: { [name: string]: string };
}

/** The selection of a checked filter, without the members that were left out. */
export function selectionOf(given: Given, wanted: Selection["refs"] = {}): Selection {
  const { definitionId, family, status, state, tag, attention, updatedAfter: after } = given;
  const count = Object.keys(wanted).length;
  if (count > LIMITS.refsPerFilter) {
    throw overLimit(
      "refsPerFilter",
      `A filter has at most ${LIMITS.refsPerFilter} references; this one has ${count}.`,
    );
  }
  const filter: Filter = {
    ...(definitionId === undefined ? {} : { definitionId }),
    ...(family === undefined ? {} : { family }),
    ...(status === undefined ? {} : { status }),
    ...(state === undefined ? {} : { state }),
    ...(tag === undefined ? {} : { tag }),
    ...(attention === undefined ? {} : { attention: attentionOf(attention) }),
    ...(after === undefined ? {} : { updatedAfter: after }),
  };
  return { filter, refs: wanted };
}

function attentionOf(given: NonNullable<Given["attention"]>): Filter["attention"] & {} {
  return given === "true" ? true : given === "false" ? false : given;
}

/** Both spellings of references as one. */
function joinRefs(given: unknown, { issues }: z.core.ParsePayload): unknown {
  if (!isJsonObject(given)) return given;
  const { refs: sent = {} } = given;
  const named = isJsonObject(sent) ? sent : {};
  const rest: [string, unknown][] = [];
  const joined: [string, unknown][] = Object.entries(named);
  for (const [member, value] of Object.entries(given)) {
    const [, name] = /^ref\.(.+)$/s.exec(member) ?? [];
    if (name === undefined) {
      rest.push([member, value]);
      continue;
    }
    const fault = dottedFault(name, value, named);
    if (fault !== null) {
      issues.push({ code: "custom", input: value, path: [member], message: fault });
    }
    joined.push([name, value]);
  }
  if (rest.length === Object.keys(given).length) return given;
  return { ...Object.fromEntries(rest), refs: sent === named ? Object.fromEntries(joined) : sent };
}

function dottedFault(name: string, value: unknown, named: JsonObject): string | null {
  if (name === "__proto__") return "cannot have this name";
  if (typeof value !== "string") return "must be a string";
  const same = !Object.hasOwn(named, name) || named[name] === value;
  return same ? null : "has another value than in refs";
}

/** 16 hex digits that tell selections apart, for cursors. */
export async function selectionMark({ filter, refs: wanted }: Selection): Promise<string> {
  return (await sha256Hex(canonicalJson({ filter: { ...filter }, refs: wanted }))).slice(0, 16);
}
