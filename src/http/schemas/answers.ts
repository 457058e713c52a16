import { PROBLEMS } from "./answers/problems.ts";
import { ACTORS } from "./answers/actors.ts";
import { SCHEDULES } from "./answers/schedules.ts";
import { DEFINITIONS } from "./answers/definitions.ts";
import { MIGRATIONS } from "./answers/migrations.ts";
import { TRIALS } from "./answers/trials.ts";
import { BULK } from "./answers/bulk.ts";
import { WEBHOOKS } from "./answers/webhooks.ts";
import { TASKS } from "./answers/tasks.ts";
import { KEYS } from "./answers/keys.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Every named shape of an answer, by its name in the OpenAPI document. */
export const ANSWERS: { [name: string]: JsonSchema } = {
  ...PROBLEMS,
  ...ACTORS,
  ...TASKS,
  ...SCHEDULES,
  ...DEFINITIONS,
  ...MIGRATIONS,
  ...TRIALS,
  ...BULK,
  ...WEBHOOKS,
  ...KEYS,
};
