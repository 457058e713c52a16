import { isJsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { RULE_OUTCOMES } from "../migration/rule.ts";
import type { RuleMark } from "../migration/rule.ts";
import type { Entry } from "./rpc.ts";

/** Of a rule; the directory looks for it inside JSON texts. */
const RULE_ID = /^[\w-]{1,64}$/;
/** characters of a mark's state: a hash. */
const HASH_CHARS = 128;
/** characters; more than LIMITS.historySteps packed ones have. */
const STEPS_CHARS = 8 * LIMITS.historySteps;

export function isRuleId(id: unknown): id is string {
  return typeof id === "string" && RULE_ID.test(id);
}

/** Why an entry cannot be kept, or null: its numbers have to be whole, and what rules did to it of bounded size. */
export function entryFault(entry: Entry): string | null {
  const { bornAt, seq, updatedAt, events, replays, dueAt, changedAt, entered } = entry;
  const numbers = {
    bornAt,
    seq,
    updatedAt,
    events,
    replays,
    changedAt,
    dueAt: dueAt ?? 0,
    entered: entered ?? 0,
  };
  const broken = Object.entries(numbers).find(([, number]) => !Number.isSafeInteger(number));
  if (broken) return `The entry's ${broken[0]} is not a whole number`;
  if (numbers.entered < 0) return "The entry's entered is less than 0";
  if (!isText(entry.steps ?? undefined, STEPS_CHARS)) return "The entry's steps are no packed ones";
  return entry.moves === undefined ? null : movesFault(entry.moves);
}

function movesFault(moves: unknown): string | null {
  const most = LIMITS.rulesEver;
  if (!Array.isArray(moves)) return "The entry's moves are no list";
  if (moves.length > most) return `The entry has more than ${most} moves (limit rulesEver)`;
  if (!moves.every(isMark)) return "One of the entry's moves is none";
  const rules = new Set(moves.map(({ ruleId }) => ruleId));
  return rules.size < moves.length ? "Two of the entry's moves are of one rule" : null;
}

function isMark(mark: unknown): mark is RuleMark {
  if (!isJsonObject(mark)) return false;
  const { ruleId, outcome, reason, state, decidedAtSeq, at } = mark;
  return (
    isRuleId(ruleId) &&
    RULE_OUTCOMES.some((one) => one === outcome) &&
    isText(reason, LIMITS.textChars) &&
    isText(state, HASH_CHARS) &&
    Number.isSafeInteger(decidedAtSeq) &&
    Number.isSafeInteger(at)
  );
}

function isText(text: unknown, most: number): boolean {
  return text === undefined || (typeof text === "string" && text.length <= most);
}
