import { anyObject, flag, instant, list, object, orNull, ref, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { nearMisses } from "./fragments.ts";

const sha256: JsonSchema = { type: "string", pattern: "^[0-9a-f]{64}$" };

const definition = {
  id: text,
  family: { ...text, description: "The machine's own id." },
  hash: { ...sha256, description: "SHA-256 of the canonical JSON." },
  parentId: orNull(text),
  deployedAt: instant,
  inForceAt: {
    ...instant,
    description:
      "Since when it counts: when it was deployed; with a rule, when every actor goes by that.",
  },
  rule: {
    ...orNull(ref("Rule")),
    description: "What moves actors of the parent, if it was deployed with a rule; as that is now.",
  },
};

export const DEFINITIONS: { [name: string]: JsonSchema } = {
  DefinitionSummary: object(definition),
  Definition: object({ ...definition, warnings: list(ref("Fault")), definition: anyObject }),
  Deployed: object({
    ...definition,
    warnings: list(ref("Fault")),
    "nearMisses?": nearMisses,
    idempotent: { ...flag, description: "Whether the very same was deployed before." },
    "replaced?": {
      ...flag,
      description: "Development only: another definition without actors was here.",
    },
  }),
};
