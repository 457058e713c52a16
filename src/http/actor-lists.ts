import * as z from "zod/mini";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { encodePlace, placeOf } from "../base/place-cursor.ts";
import { isoTime } from "../base/time.ts";
import { countActors, listActors } from "../directory/fleet.ts";
import type { Summary } from "../directory/rpc.ts";
import { filterParameters, selectionMark, selectionOf } from "./actor-filter.ts";
import { json } from "./answer.ts";
import { ATTENTION_WORDS } from "../lifecycle/attention.ts";
import { groupsOf, totalOf } from "./class-groups.ts";
import { requireDirectory } from "./fleet.ts";
import { route } from "./route.ts";
import { limit, longCursor } from "./schemas/inputs.ts";
import { count, instant, list, object, page, ref, text } from "./schemas/json-schema.ts";

const tag = "Actors";

const summaries = page(ref("ActorSummary"));

export const listRoutes = [
  route({
    method: "get",
    path: "/v1/actors",
    tag,
    name: "listActors",
    summary: "Actors, youngest first",
    description:
      "The directory knows an acknowledged change within about a second; asOf is when it was read.",
    scope: "read",
    query: z.strictObject({
      ...filterParameters,
      limit,
      cursor: longCursor,
    }),
    dotted: "ref",
    answers: { 200: { description: "A page.", schema: summaries } },
    refusals: ["cursor_invalid", "limit_exceeded"],
    async handle({ context, env, principal, query }) {
      requireDirectory(env);
      const selection = selectionOf(query, query["ref.<name>"]);
      const mark = await selectionMark(selection);
      const after = query.cursor === undefined ? null : placeOf(mark, query.cursor);
      const now = Date.now();
      const { items, next } = await listActors(env, principal.tenant, {
        ...selection,
        after,
        limit: query.limit ?? LIMITS.pageDefault,
      });
      return json(context, 200, {
        items: items.map(summaryView),
        nextCursor: next && encodePlace(mark, next),
        asOf: isoTime(now),
      });
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/count",
    tag,
    name: "countActors",
    summary: "How many actors there are, and of which kind",
    description: "Grouped by state, by status or by definition; the largest groups first.",
    scope: "read",
    query: z.strictObject({
      ...filterParameters,
      groupBy: z.optional(z.enum(["state", "status", "definitionId"])),
    }),
    dotted: "ref",
    answers: {
      200: {
        description: "The counts. A group has the member that it is grouped by.",
        schema: object({
          total: count,
          groups: list(
            object({
              "stateValue?": ref("StateValue"),
              "status?": text,
              "definitionId?": text,
              count,
            }),
          ),
          "others?": {
            ...count,
            description: `Actors in groups beyond the first ${LIMITS.groupsPerAnswer}.`,
          },
          asOf: instant,
        }),
      },
    },
    refusals: ["limit_exceeded"],
    async handle({ context, env, principal, query }) {
      requireDirectory(env);
      const now = Date.now();
      const classes = await countActors(
        env,
        principal.tenant,
        selectionOf(query, query["ref.<name>"]),
      );
      const grouped =
        query.groupBy === undefined ? { groups: [] } : groupsOf(classes, query.groupBy);
      return json(context, 200, { total: totalOf(classes), ...grouped, asOf: isoTime(now) });
    },
  }),
];

/** An actor as lists show it. */
function summaryView(summary: Summary): JsonObject {
  const { id, uid, definitionId, family, stateValue, tags, status, seq, refs } = summary;
  return {
    id,
    uid,
    definitionId,
    family,
    stateValue,
    tags,
    status,
    done: status === "done",
    seq,
    refs,
    nextDueAt: summary.dueAt === null ? null : isoTime(summary.dueAt),
    createdAt: isoTime(summary.bornAt),
    updatedAt: isoTime(summary.updatedAt),
    needsAttention: summary.attention.map((reason) => ({
      reason,
      message: ATTENTION_WORDS[reason],
    })),
  };
}
