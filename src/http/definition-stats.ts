import { isoTime } from "../base/time.ts";
import { countActors } from "../directory/fleet.ts";
import { ACTOR_STATUSES } from "../lifecycle/types.ts";
import { json } from "./answer.ts";
import { groupsOf, totalOf } from "./class-groups.ts";
import { byId } from "./definitions.ts";
import { requireDirectory } from "./fleet.ts";
import { problem } from "./problem.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import { count, instant, list, object, ref } from "./schemas/json-schema.ts";

export const statsRoutes = [
  route({
    method: "get",
    path: "/v1/definitions/{id}/stats",
    tag: "Definitions",
    name: "definitionStats",
    summary: "How many actors stand on a definition, and where",
    description: "Of a retired definition too, as long as actors stand on it.",
    scope: "read",
    params: byId,
    answers: {
      200: {
        description: "The counts, states with most actors first.",
        schema: object({
          total: count,
          byStatus: object(Object.fromEntries(ACTOR_STATUSES.map((status) => [status, count]))),
          byState: list(object({ stateValue: ref("StateValue"), count })),
          "otherStates?": { ...count, description: "Actors in states that are not listed." },
          asOf: instant,
        }),
      },
    },
    refusals: ["definition_not_found"],
    async handle({ context, env, principal, params: { id } }) {
      requireDirectory(env);
      const now = Date.now();
      const classes = await countActors(env, principal.tenant, {
        filter: { definitionId: id },
        refs: {},
      });
      const total = totalOf(classes);
      if (total === 0) {
        const known = await callRegistry(env, principal, true, (registry) =>
          registry.getDefinition(id),
        );
        if (!known.ok) return problem(context, known.failure);
      }
      const byStatus = Object.fromEntries(ACTOR_STATUSES.map((status) => [status, 0]));
      for (const one of classes) byStatus[one.status] = (byStatus[one.status] ?? 0) + one.count;
      const { groups, others } = groupsOf(classes, "state");
      return json(context, 200, {
        total,
        byStatus,
        byState: groups,
        ...(others === undefined ? {} : { otherStates: others }),
        asOf: isoTime(now),
      });
    },
  }),
];
