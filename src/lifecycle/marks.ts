import { canonicalJson } from "../base/json.ts";
import { hash64 } from "../fingerprint/kernel.ts";
import type { StateValue } from "../machine/types.ts";
import type { RuleMark } from "../migration/rule.ts";

/** With this mark in place of an older one of the same rule. */
export function withMark(moves: readonly RuleMark[], mark: RuleMark): RuleMark[] {
  return [...moves.filter(({ ruleId }) => ruleId !== mark.ruleId), mark];
}

/** What stays of an actor's marks when it comes to another definition: refusals were about the one that it leaves. */
export function lastingMarks(moves: readonly RuleMark[]): RuleMark[] {
  return moves.filter(({ outcome }) => outcome === "migrated" || outcome === "rolled_back");
}

/** What tells one state value from another in a mark. */
export function stateHash(value: StateValue): string {
  return hash64(canonicalJson(value)).toString(16).padStart(16, "0");
}
