import * as z from "zod/mini";
import { idPattern, isActorId } from "../../base/ids.ts";
import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import type { PageQuery } from "../../base/page-down.ts";

// What several routes take. `meta` says in the document what a check in code does not show.

/** Any JSON: the body was parsed from JSON, so there is nothing left to check. */
export const jsonValue = z.any() as z.ZodMiniType<JsonValue>;

export const jsonObject = z
  .custom<JsonObject>(isJsonObject, "must be a JSON object")
  .check(z.meta({ type: "object", additionalProperties: true }));

/** An id of at most `most` characters. */
export function idUpTo(most: number) {
  return z
    .string()
    .check(z.regex(idPattern(most), `must be 1 to ${most} of the characters A-Z a-z 0-9 . _ : -`));
}

export const id = idUpTo(200);

export const actorId = id.check(
  z.refine(isActorId, 'must not be ".", "..", "count" or "bulk", nor begin with "ref:"'),
);

const refName = z.string().check(z.minLength(1), z.maxLength(LIMITS.refNameChars));
export const refValue = z.string().check(z.minLength(1), z.maxLength(LIMITS.refValueChars));

/** References by name. Zod leaves `__proto__` out of a record without a word, so it is refused before. */
export function refs<Value extends z.ZodMiniType<string | null>>(value: Value) {
  return z.pipe(
    z.transform((given: unknown, { issues }) => {
      if (isJsonObject(given) && Object.hasOwn(given, "__proto__")) {
        issues.push({ code: "custom", input: given, message: "cannot have a name __proto__" });
      }
      return given;
    }),
    z.record(refName, value),
  );
}

/** A short text, such as a label or a reason. */
export const shortText = z.string().check(z.minLength(1), z.maxLength(LIMITS.textChars));

export const by = shortText.check(z.meta({ description: "Who is behind the call, for the log." }));

export const eventType = z.string().check(z.minLength(1), z.maxLength(LIMITS.eventTypeChars));

export const payload = z
  .nullable(jsonObject)
  .check(z.meta({ description: "Members of the event beside its type." }));

export const idempotencyKey = z.string().check(
  z.meta({
    description: "Instead of the header Idempotency-Key; the same when both are sent.",
  }),
);

/** An integer in a query. */
export function integerText(least: number, most: number) {
  return z.pipe(
    z.pipe(z.string().check(z.regex(/^\d{1,15}$/, "must be a whole number")), z.transform(Number)),
    z.int().check(z.minimum(least), z.maximum(most)),
  );
}

export const cursor = z
  .optional(z.string().check(z.maxLength(200)))
  .check(z.meta({ description: "The nextCursor of the page before." }));

/** Of lists whose places have ids in them. */
export const longCursor = z
  .optional(z.string().check(z.maxLength(400)))
  .check(z.meta({ description: "The nextCursor of the page before, with the same filter." }));

export const limit = z
  .optional(integerText(1, LIMITS.pageMost))
  .check(z.meta({ description: `Items of the page; ${LIMITS.pageDefault} when left out.` }));

/** An instant as a caller writes it; ms since 1970. */
export const instantText = z
  .pipe(
    z.iso.datetime({
      offset: true,
      error: "must be an ISO 8601 instant such as 2026-01-31T12:00:00.000Z",
    }),
    z.transform((text) => Date.parse(text)),
  )
  .check(z.meta({ type: "string", format: "date-time" }));

/** What a list is asked for. */
export function pageOf(query: {
  limit?: number | undefined;
  cursor?: string | undefined;
}): PageQuery {
  return { limit: query.limit ?? LIMITS.pageDefault, cursor: query.cursor ?? null };
}
