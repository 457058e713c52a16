import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Filter } from "../directory/rpc.ts";
import { ACTOR_STATUSES, ATTENTION_REASONS } from "../lifecycle/types.ts";
import { id, instantText, refValue, refs } from "./schemas/inputs.ts";

/** characters; a path of keys of a definition's deepest state, with the points between them. */
const STATE_PATH_CHARS = LIMITS.stateDepth * (LIMITS.stateKeyChars + 1);

/** Parameters that select actors, for the queries of lists and counts. */
export const filterParameters = {
  definitionId: z.optional(id),
  family: z
    .optional(z.string().check(z.minLength(1)))
    .check(z.meta({ description: "The machine's own id." })),
  status: z.optional(z.enum(ACTOR_STATUSES)),
  state: z
    .optional(z.string().check(z.minLength(1), z.maxLength(STATE_PATH_CHARS)))
    .check(z.meta({ description: "Path of an active state, on its own or inside parallel ones." })),
  tag: z.optional(z.string().check(z.minLength(1), z.maxLength(LIMITS.textChars))),
  "ref.<name>": z.optional(refs(refValue)).check(
    z.meta({
      description: `One parameter for each reference that the actor has to have, such as ref.invoice=2024-17; at most ${LIMITS.refsPerFilter}.`,
    }),
  ),
  attention: z.optional(z.enum(["true", "false", ...ATTENTION_REASONS])).check(
    z.meta({
      description: "true: somebody should look at it; false: nobody has to; or why.",
    }),
  ),
  updatedAfter: z
    .optional(instantText)
    .check(z.meta({ description: "The last record is younger.", format: "date-time" })),
};

type Parameters = z.infer<z.ZodMiniObject<typeof filterParameters>>;

/** What a query selects. */
export interface Selection {
  filter: Filter;
  refs: { [name: string]: string };
}

/** The selection of a checked query, without the members that were left out. */
export function selectionOf(query: Parameters): Selection {
  const { definitionId, family, status, state, tag, attention, updatedAfter } = query;
  const wanted = query["ref.<name>"] ?? {};
  const count = Object.keys(wanted).length;
  if (count > LIMITS.refsPerFilter) {
    throw new PerdureError(
      "limit_exceeded",
      `A filter has at most ${LIMITS.refsPerFilter} references; this one has ${count}.`,
      { extra: { limit: "refsPerFilter", most: LIMITS.refsPerFilter } },
    );
  }
  const filter: Filter = {
    ...(definitionId === undefined ? {} : { definitionId }),
    ...(family === undefined ? {} : { family }),
    ...(status === undefined ? {} : { status }),
    ...(state === undefined ? {} : { state }),
    ...(tag === undefined ? {} : { tag }),
    ...(attention === undefined ? {} : { attention: attentionOf(attention) }),
    ...(updatedAfter === undefined ? {} : { updatedAfter }),
  };
  return { filter, refs: wanted };
}

function attentionOf(given: NonNullable<Parameters["attention"]>): Filter["attention"] & {} {
  return given === "true" ? true : given === "false" ? false : given;
}

/** 16 hex digits that tell selections apart, for cursors. */
export async function selectionMark({ filter, refs: wanted }: Selection): Promise<string> {
  return (await sha256Hex(canonicalJson({ filter: { ...filter }, refs: wanted }))).slice(0, 16);
}
