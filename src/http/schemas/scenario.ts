import * as z from "zod/mini";
import { LIMITS } from "../../base/limits.ts";
import { eventType, id, jsonObject, jsonValue, payload } from "./inputs.ts";

const invokeId = z.string().check(z.minLength(1), z.maxLength(LIMITS.nameChars));

/** As a source would give it; what is left out is made up. */
const activityError = z.strictObject({
  code: z.optional(z.string()),
  message: z.optional(z.string()),
  attempts: z.optional(z.int()),
  status: z.optional(z.int()),
  body: z.optional(jsonValue),
});

const scenario = z.strictObject({
  name: z.string().check(z.maxLength(LIMITS.textChars)),
  input: z.optional(jsonValue),
  context: z.optional(jsonObject),
  events: z.array(
    z.union(
      [
        eventType,
        z.strictObject({ type: eventType, payload: z.optional(payload) }),
        z.strictObject({ advanceMs: z.int().check(z.minimum(0), z.maximum(LIMITS.delayMs)) }),
        z.strictObject({ done: invokeId, output: z.optional(jsonValue) }),
        z.strictObject({ failed: invokeId, error: z.optional(activityError) }),
      ],
      "must be an event type, {type, payload?}, {advanceMs}, {done, output?} or {failed, error?}",
    ),
  ),
  expectedStates: z.optional(z.array(jsonValue)),
  expectDone: z.optional(z.boolean()),
});

/** Machine and scenarios: one that is deployed, or one that is not. */
export const scenarioBody = z
  .strictObject({
    definition: z.optional(jsonObject),
    definitionId: z.optional(id),
    scenarios: z.array(scenario).check(z.minLength(1)),
  })
  .check(
    z.refine(
      (body) => (body.definition === undefined) !== (body.definitionId === undefined),
      "needs either definition or definitionId",
    ),
  );

export type ScenarioBody = z.infer<typeof scenarioBody>;
