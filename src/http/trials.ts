import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { overLimit } from "../base/over-limit.ts";
import type { Env } from "../env.ts";
import { runScenarios } from "../lifecycle/scenario.ts";
import type { Scenario } from "../lifecycle/scenario.ts";
import { checkDefinition } from "../machine/check.ts";
import { compileDefinition } from "../machine/compile.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { diffDefinitions } from "../machine/diff.ts";
import { resolveMachine } from "../registry/definition-cache.ts";
import type { Principal } from "../registry/rpc.ts";
import { json } from "./answer.ts";
import { checkEvent, checkEventType } from "./event-input.ts";
import { problem } from "./problem.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import { id, jsonObject } from "./schemas/inputs.ts";
import { anything, count, flag, list, object, orNull, ref, text } from "./schemas/json-schema.ts";
import { scenarioBody } from "./schemas/scenario.ts";
import type { ScenarioBody } from "./schemas/scenario.ts";

// What can be asked of definitions without storing anything.

const tag = "Definitions";

export const trialRoutes = [
  route({
    method: "post",
    path: "/v1/definitions/validate",
    tag,
    name: "validate",
    summary: "Check a definition without storing it",
    scope: "read",
    body: z.strictObject({ definition: jsonObject }),
    bodyHoldsDefinition: true,
    answers: {
      200: {
        description: "What the check found, also for an invalid one.",
        schema: object({
          valid: flag,
          errors: list(ref("Fault")),
          warnings: list(ref("Fault")),
          states: list(text),
          events: list(text),
          initialState: orNull(ref("StateValue")),
        }),
      },
    },
    refusals: [],
    async handle({ context, body }) {
      const report = checkDefinition(body.definition);
      const { errors, warnings, states, events, initialState } = report;
      const found = { errors, warnings, states, events, initialState };
      return json(context, 200, { valid: errors.length === 0, ...found } as unknown as JsonObject);
    },
  }),

  route({
    method: "post",
    path: "/v1/definitions/scenario",
    tag,
    name: "scenario",
    summary: "Play scenarios against a machine without storing anything",
    scope: "read",
    body: scenarioBody,
    bodyHoldsDefinition: true,
    answers: {
      200: {
        description: "How each scenario went.",
        schema: object({ passed: count, failed: count, results: list(ref("ScenarioResult")) }),
      },
    },
    refusals: [
      "definition_invalid",
      "definition_not_found",
      "event_type_reserved",
      "limit_exceeded",
    ],
    async handle({ context, env, principal, body }) {
      limitScenarios(body.scenarios);
      checkEvents(body.scenarios);
      const machine = body.definition
        ? compileChecked(body.definition)
        : await deployedMachine(env, principal, body.definitionId ?? "");
      const report = runScenarios(machine, body.scenarios as Scenario[]);
      return json(context, 200, report as unknown as JsonObject);
    },
  }),

  route({
    method: "get",
    path: "/v1/definitions/{id}/diff",
    tag,
    name: "diffDefinitions",
    summary: "What a definition has that another has not, and the other way round",
    scope: "read",
    params: z.object({ id }),
    query: z.strictObject({ against: id }),
    answers: {
      200: {
        description: "The differences, seen from `against`.",
        schema: object({
          statesAdded: list(text),
          statesRemoved: list(text),
          transitionsChanged: list(
            object({ state: text, event: text, from: anything, to: anything }),
          ),
          initialChanged: list(object({ state: text, from: anything, to: anything })),
        }),
      },
    },
    refusals: ["definition_not_found"],
    async handle({ context, env, principal, params, query }) {
      const bodies: JsonObject[] = [];
      for (const name of [query.against, params.id]) {
        const reply = await callRegistry(env, principal, true, (registry) =>
          registry.getDefinition(name),
        );
        if (!reply.ok) return problem(context, reply.failure);
        bodies.push((reply.body as JsonObject)["definition"] as JsonObject);
      }
      const [from = {}, to = {}] = bodies;
      return json(context, 200, diffDefinitions(from, to) as unknown as JsonObject);
    },
  }),
];

function limitScenarios(scenarios: ScenarioBody["scenarios"]): void {
  const exceeded = (limit: "scenariosPerCall" | "eventsPerScenario", what: string) =>
    overLimit(limit, `${what} at most ${LIMITS[limit]}.`);
  if (scenarios.length > LIMITS.scenariosPerCall) {
    throw exceeded("scenariosPerCall", "Scenarios of one call are");
  }
  if (scenarios.some(({ events }) => events.length > LIMITS.eventsPerScenario)) {
    throw exceeded("eventsPerScenario", "Events of one scenario are");
  }
}

/** A scenario sends what a caller could send, so that it passes only where an actor would. */
function checkEvents(scenarios: ScenarioBody["scenarios"]): void {
  for (const [place, { events }] of scenarios.entries()) {
    for (const [index, event] of events.entries()) {
      const pointer = `/scenarios/${place}/events/${index}`;
      if (typeof event === "string") checkEventType(event, pointer);
      else if ("type" in event) checkEvent(event, pointer);
    }
  }
}

function compileChecked(definition: JsonObject): CompiledMachine {
  const { errors } = checkDefinition(definition);
  if (errors.length === 0) return compileDefinition(definition);
  const detail = "The definition is not valid, and nothing was played; errors says what to mend.";
  throw new PerdureError("definition_invalid", detail, { errors });
}

async function deployedMachine(
  env: Env,
  principal: Principal,
  name: string,
): Promise<CompiledMachine> {
  const resolved = await callRegistry(env, principal, true, (registry) =>
    resolveMachine(registry, name),
  );
  if (resolved) return resolved.machine;
  throw new PerdureError(
    "definition_not_found",
    `There is no such definition: ${name}. GET /v1/definitions lists what there is.`,
  );
}
