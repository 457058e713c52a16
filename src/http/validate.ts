import type * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { Problem } from "../base/errors.ts";
import { quoted } from "../machine/check/problems.ts";
import { messageOf } from "./issue-message.ts";
import { adviceFor, knownAt } from "./known-fields.ts";

/** Problems and names listed in one answer; who sends 10,000 unknown fields learns their number. */
const LISTED = 10;
const NAME_CHARS = 100;

type Part = "body" | "query" | "path";
type Issue = z.core.$ZodIssue;

/**
 * A part of a request as its schema gives it; throws `unknown_field`, naming what is known, or
 * `invalid_request`.
 */
export function validate<T>(schema: z.ZodMiniType<T>, value: unknown, part: Part): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal(schema, value, result.error.issues, part);
}

function refusal(
  schema: z.ZodMiniType,
  value: unknown,
  issues: readonly Issue[],
  part: Part,
): PerdureError {
  const problems: Problem[] = [];
  const unknown = new Unknown(part);
  let count = 0;
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") {
      // Who sends thousands of them is not told about each.
      const known = unknown.full ? [] : knownAt(schema, issue.path);
      count += issue.keys.length;
      for (const key of issue.keys) {
        const advice = unknown.add(key, issue.path, known);
        if (problems.length < LISTED) problems.push(unknownField(issue, key, advice));
      }
      continue;
    }
    count += 1;
    if (problems.length < LISTED) problems.push(problemOf(issue, value));
  }
  const listed = count > problems.length ? ` The first ${problems.length} are listed.` : "";
  const more = count > problems.length ? { extra: { count } } : {};
  const errors = problems.map((problem) => placed(problem, part));
  if (unknown.count > 0) {
    return new PerdureError("unknown_field", `${unknown.detail()}${listed}`, { errors, ...more });
  }
  const [first] = problems;
  const what = first ? `${first.pointer} ${first.message}`.trim() : "";
  const said = first?.pointer === "" ? `The ${part} ${what}` : `The ${part} does not fit: ${what}`;
  return new PerdureError("invalid_request", `${sentence(said)}${listed}`, { errors, ...more });
}

/** Collects unknown names for the one sentence about all of them. */
class Unknown {
  count = 0;
  readonly #part: Part;
  readonly #names: string[] = [];
  readonly #advice = new Set<string>();
  #known: string[] = [];

  constructor(part: Part) {
    this.#part = part;
  }

  get full(): boolean {
    return this.count >= LISTED;
  }

  /** Answers what to do about the name. Only those that get listed are looked at. */
  add(key: string, path: readonly PropertyKey[], known: string[]): string {
    this.count += 1;
    if (this.count > LISTED) return "";
    if (this.count === 1) this.#known = known;
    const name = key.slice(0, NAME_CHARS);
    const advice = adviceFor(name, known);
    this.#names.push(path.length === 0 ? quoted(name) : `${quoted(name)} in ${pointer(path)}`);
    if (advice !== "") this.#advice.add(advice);
    return advice;
  }

  detail(): string {
    const thing = this.#part === "query" ? "parameter" : "field";
    const things = this.count === 1 ? `1 ${thing} that is` : `${this.count} ${thing}s that are`;
    const known =
      this.#known.length === 0
        ? `No ${thing} is known here.`
        : `Known are ${this.#known.join(", ")}.`;
    const names = this.#names.join(", ");
    const advice = [...this.#advice].join("");
    return `The ${this.#part} has ${things} not known here: ${names}.${advice} ${known}`;
  }
}

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

function pointer(path: readonly PropertyKey[]): string {
  return path
    .map(
      (key) => `/${String(key).slice(0, NAME_CHARS).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    )
    .join("");
}

function unknownField(issue: Issue, key: string, advice: string): Problem {
  const name = pointer([...issue.path, key]);
  const message = advice === "" ? "is not known here" : `is not known here.${advice}`;
  return { pointer: name, code: "unknown_field", message };
}

function problemOf(issue: Issue, value: unknown): Problem {
  const given = valueAt(value, issue.path);
  const missing = given === undefined && issue.path.length > 0;
  return {
    pointer: pointer(issue.path),
    code: missing ? "required" : issue.code,
    message: missing ? "is required" : messageOf(issue, given),
  };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

function placed(problem: Problem, part: Part): Problem {
  return part === "body" ? problem : { ...problem, message: `(${part}) ${problem.message}` };
}
