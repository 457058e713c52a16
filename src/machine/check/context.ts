import type { ResultType } from "../expression.ts";
import type { Implementations } from "../implementations.ts";
import type { Errors, Warnings } from "./problems.ts";
import type { Tree } from "./tree.ts";

/** What the parts of one check share. */
export interface Check {
  readonly errors: Errors;
  readonly warnings: Warnings;
  readonly implementations: Implementations;
  readonly tree: Tree;
  /** Names of delays that the definition declares. */
  readonly delays: ReadonlySet<string>;
  /** Answers of the expression compiler by source: a definition may repeat itself thousands of times. */
  readonly expressions: Map<string, ExpressionFacts>;
  /** Types of events that are sent or waited for, each with the first place it stands at. */
  readonly eventTypes: Map<string, string>;
}

export type ExpressionFacts =
  | { ok: true; usesNow: boolean; usesRandom: boolean; type: ResultType }
  | { ok: false; message: string };
