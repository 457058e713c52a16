import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import type { Implementations } from "../../src/machine/implementations.ts";
import { edited } from "./edit.ts";

/** Nothing is wrong with it, and nothing doubtful. */
export const loan: JsonObject = {
  id: "loan",
  initial: "draft",
  context: { amount: 0 },
  delays: { PATIENCE: 86_400_000 },
  states: {
    draft: { on: { SUBMIT: "review", AMOUNT: {} }, after: { 1000: "expired" } },
    review: {
      id: "checking",
      initial: "first",
      after: { PATIENCE: "expired" },
      states: {
        first: { on: { OK: "second" } },
        second: { on: { OK: "end" } },
        end: { type: "final" },
      },
      onDone: "paid",
    },
    paid: { type: "final" },
    expired: { type: "final" },
  },
};

export type Changes = { readonly [pointer: string]: JsonValue | undefined };

/** Errors of the loan with some changes, each as "pointer code". */
export function errorsWith(changes: Changes, implementations?: Implementations): string[] {
  return checkDefinition(edited(loan, changes), implementations).errors.map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );
}

/** The message of the only error of the loan with some changes. */
export function messageWith(changes: Changes, implementations?: Implementations): string {
  const { errors } = checkDefinition(edited(loan, changes), implementations);
  if (errors.length !== 1) throw new Error(`${errors.length} errors: ${JSON.stringify(errors)}`);
  return errors[0]?.message ?? "";
}

/** Warnings of a definition, each as "pointer code"; it has no errors. */
export function warningsOf(definition: JsonObject): string[] {
  const { errors, warnings } = checkDefinition(definition);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return warnings.map(({ pointer, code }) => `${pointer} ${code}`);
}
