import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import type { Check } from "./context.ts";
import { quoted, suggestion } from "./problems.ts";

/** " Did you mean {"@expr": …}?" for an object that stands for nothing but was surely meant to; else "". */
export function meantAsExpression(value: JsonObject): string {
  const keys = Object.keys(value).filter((key) => key !== "@lang");
  const [key = ""] = keys;
  const source = value[key];
  if (keys.length !== 1 || typeof source !== "string" || !isNearExpr(key)) return "";
  return ` Did you mean ${asExpression(source)}?`;
}

/** Without a sign before it only `expr` itself: `exp` may well be somebody's data. */
function isNearExpr(key: string): boolean {
  if (/^[@$]?expr(?:ession)?$/i.test(key)) return true;
  return /^[@$]/.test(key) && key.length <= 10 && suggestion(key, ["@expr"]) !== "";
}

export function warnOfNearKey(check: Check, value: JsonObject, pointer: string): void {
  const meant = meantAsExpression(value);
  if (meant === "") return;
  const key = Object.keys(value).find((name) => name !== "@lang") ?? "";
  check.warnings.add(
    pointer,
    "near_expression_key",
    () => `This stays an object with the key ${quoted(key)}; nothing evaluates it.${meant}`,
  );
}

/** Texts worth compiling to see whether they are expressions; prose hardly ever is one. */
const MENTIONS_DATA = /(?:^|[\s!(+\-*/%<>=&|?:[{,])(?:context|event|input)\.[A-Za-z_]/;

/** `compiles` is asked only for what mentions the names of an expression's scope. */
export function warnOfText(
  check: Check,
  text: JsonValue,
  pointer: string,
  compiles: (source: string) => boolean,
): void {
  if (typeof text !== "string" || text.length > LIMITS.expressionChars) return;
  if (!MENTIONS_DATA.test(text) || !compiles(text)) return;
  check.warnings.add(
    pointer,
    "text_like_expression",
    () => `This is text and stays as it is; to have it evaluated write ${asExpression(text)}.`,
  );
}

const SHOWN_CHARS = 80;

function asExpression(source: string): string {
  const short = source.length <= SHOWN_CHARS && source.isWellFormed();
  return JSON.stringify({ "@expr": short ? source : "…" }).replace(":", ": ");
}
