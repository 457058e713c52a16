import * as z from "zod/mini";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Filter } from "../directory/rpc.ts";
import { ATTENTION_REASONS } from "../lifecycle/types.ts";
import { id, instantText } from "./schemas/inputs.ts";

const STATUSES = ["active", "paused", "stranded", "done", "error", "terminated"] as const;

const refValue = z.string().check(z.minLength(1), z.maxLength(LIMITS.refValueChars));

const members = z.strictObject({
  definitionId: z.optional(id),
  family: z.optional(id),
  status: z.optional(z.enum(STATUSES)),
  state: z
    .optional(z.string().check(z.minLength(1), z.maxLength(LIMITS.positionBytes)))
    .check(z.meta({ description: "A state's path; also inside parallel states." })),
  tag: z.optional(z.string().check(z.minLength(1))),
  attention: z
    .optional(z.union([z.boolean(), z.enum(["true", "false"]), z.enum(ATTENTION_REASONS)]))
    .check(z.meta({ description: "True: any reason; false: none; or one reason." })),
  updatedAfter: z.optional(instantText),
  refs: z
    .optional(
      z.record(z.string().check(z.minLength(1), z.maxLength(LIMITS.refNameChars)), refValue),
    )
    .check(
      z.meta({ description: "References that the actor has; `ref.<name>` beside it is the same." }),
    ),
});

/** Filters of `GET /v1/actors` as members of an object; what is given in both spellings must be the same. */
export const bulkFilter = z.pipe(
  z.pipe(
    z.transform((given: unknown, { issues }) => {
      if (!isJsonObject(given)) return given;
      const rest: { [name: string]: unknown } = {};
      const named = new Map<string, unknown>();
      for (const [name, value] of Object.entries(given)) {
        if (name.startsWith("ref.") && name.length > "ref.".length) {
          named.set(name.slice("ref.".length), value);
        } else rest[name] = value;
      }
      const refs = given["refs"];
      if (refs !== undefined && !isJsonObject(refs)) return given;
      for (const name of [...Object.keys(refs ?? {}), ...named.keys()]) {
        // Zod leaves `__proto__` out of a record without a word.
        if (name === "__proto__") {
          issues.push({ code: "custom", input: given, message: "cannot have a ref __proto__" });
        }
        const twice = refs !== undefined && Object.hasOwn(refs, name) && named.has(name);
        if (twice && refs[name] !== named.get(name)) {
          issues.push({
            code: "custom",
            input: given,
            message: `has two values of the ref ${name}`,
          });
        }
      }
      if (named.size === 0) return rest;
      return {
        ...rest,
        refs: { ...(refs as JsonObject | undefined), ...Object.fromEntries(named) },
      };
    }),
    members,
  ),
  z.transform(({ refs = {}, attention, ...rest }) => {
    const filter: Filter = defined(rest);
    if (attention !== undefined) filter.attention = reasonOf(attention);
    return { ...filter, refs };
  }),
);

function reasonOf(
  attention: boolean | "true" | "false" | (typeof ATTENTION_REASONS)[number],
): NonNullable<Filter["attention"]> {
  if (attention === "true") return true;
  return attention === "false" ? false : attention;
}

/** Without members that are undefined. */
function defined<Shape extends object>(
  shape: Shape,
): { [Name in keyof Shape]?: NonNullable<Shape[Name]> } {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Shape]?: NonNullable<Shape[Name]>;
  };
}
