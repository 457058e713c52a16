import { flag, instant, list, object, oneOf, orNull, text } from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";

const key = {
  id: text,
  tenant: text,
  label: text,
  scopes: list(oneOf("read", "write", "deploy", "admin")),
  createdAt: instant,
  rotatedAt: orNull(instant),
  expiresAt: orNull(instant),
  revokedAt: orNull(instant),
};

export const KEYS: { [name: string]: JsonSchema } = {
  Key: object(key),
  KeyWithSecret: object({
    ...key,
    "key?": { ...text, description: "The key itself, in the first answer only." },
    "secretShown?": { ...flag, description: "In a replay: the secret was shown already." },
  }),
};
