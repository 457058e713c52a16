import type * as z from "zod/mini";
import { suggestion } from "../machine/check/problems.ts";

type Issue = z.core.$ZodIssue;

const TYPES: { readonly [expected: string]: string } = {
  array: "must be an array",
  boolean: "must be true or false",
  int: "must be a whole number",
  number: "must be a number",
  object: "must be a JSON object",
  record: "must be a JSON object",
  string: "must be a string",
};

/** What is wrong, as a predicate of the thing at the issue's path. */
export function messageOf(issue: Issue, given: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? issue.message;
    case "too_small":
      return bound("at least", issue.origin, Number(issue.minimum));
    case "too_big":
      return bound("at most", issue.origin, Number(issue.maximum));
    case "invalid_value": {
      const values = issue.values.map(String);
      const all = `${values.length > 1 ? "must be one of" : "must be"} ${values.join(", ")}`;
      const near = suggestion(String(given).slice(0, 100), values);
      return near === "" ? all : `${all}.${near}`;
    }
    case "invalid_key": {
      const [inner] = issue.issues;
      return inner ? `has a name that ${messageOf(inner, undefined)}` : issue.message;
    }
    default:
      return issue.message;
  }
}

function bound(which: "at least" | "at most", origin: string, count: number): string {
  if (origin === "string") {
    if (which === "at least" && count === 1) return "must not be empty";
    return `must have ${which} ${count} characters`;
  }
  if (origin === "array") return `must have ${which} ${count} ${count === 1 ? "item" : "items"}`;
  return `must be ${which} ${count}`;
}
