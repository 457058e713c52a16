import { anything, flag, list, object, orNull, ref, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { recordNotHandled } from "./fragments.ts";

export const TRIALS: { [name: string]: JsonSchema } = {
  ScenarioResult: object({
    name: text,
    passed: flag,
    steps: list(
      object({
        event: anything,
        stateValue: ref("StateValue"),
        handled: {
          ...orNull(flag),
          description: "Whether there was a handler; null for time that passes.",
        },
        "reason?": recordNotHandled,
        "expected?": ref("StateValue"),
        ok: flag,
      }),
    ),
    done: flag,
    "error?": anything,
  }),
};
