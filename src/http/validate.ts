import type * as z from "zod";
import { PerdureError } from "../base/errors.ts";
import type { Problem } from "../base/errors.ts";

/** Problems and names listed in one answer; who sends 10,000 unknown fields learns their number. */
const LISTED = 10;
const NAME_CHARS = 100;

type Part = "body" | "query" | "path";
type Issue = z.core.$ZodIssue;

/** A part of a request as its schema gives it; throws `unknown_field` or `invalid_request`. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, part: Part): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal(result.error.issues, part);
}

function refusal(issues: readonly Issue[], part: Part): PerdureError {
  const problems: Problem[] = [];
  let unknown = 0;
  let count = 0;
  for (const issue of issues) {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : null;
    unknown += keys?.length ?? 0;
    count += keys?.length ?? 1;
    for (const key of keys ?? [null]) {
      if (problems.length >= LISTED) break;
      problems.push(keys === null ? problemOf(issue, part) : unknownField(issue, key ?? ""));
    }
  }
  const listed = count > problems.length ? ` The first ${problems.length} are listed.` : "";
  const errors = { errors: problems, ...(count > problems.length ? { extra: { count } } : {}) };
  if (unknown > 0) {
    const fields = unknown === 1 ? "1 field that is" : `${unknown} fields that are`;
    return new PerdureError(
      "unknown_field",
      `The body has ${fields} not known here.${listed}`,
      errors,
    );
  }
  const where = part === "body" ? "The body" : `The ${part}`;
  const first = problems[0];
  const what = first ? `: ${first.pointer} ${first.message}` : "";
  return new PerdureError("invalid_request", `${where} does not fit${what}.${listed}`, errors);
}

function pointer(path: readonly PropertyKey[]): string {
  return path
    .map(
      (key) => `/${String(key).slice(0, NAME_CHARS).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    )
    .join("");
}

function unknownField(issue: Issue, key: string): Problem {
  const name = pointer([...issue.path, key]);
  return { pointer: name, code: "unknown_field", message: "is not known here" };
}

function problemOf(issue: Issue, part: Part): Problem {
  const missing = issue.message.endsWith("received undefined");
  const message = missing ? "is required" : issue.message;
  return {
    pointer: pointer(issue.path),
    code: missing ? "required" : issue.code,
    message: part === "body" ? message : `(${part}) ${message}`,
  };
}
