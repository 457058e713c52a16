/** What other languages write, with what to write here; of those that begin alike the longest comes first. */
const ELSEWHERE: readonly (readonly [text: string, advice: string])[] = [
  ["===", "compare with `==`"],
  ["!==", "compare with `!=`"],
  ["...", "join lists with `+`"],
  ["=>", "write loops as `list.map(item, …)`"],
  ["??", "give a default with .orValue(…), as in `context.?n.orValue(0)`"],
  ["?.", "write the question mark after the dot, as in `context.?a.?b.orValue(null)`"],
  ["?:", "write `condition ? one : other`"],
  [">>", "divide, or compare with `>`"],
  ["<<", "multiply, or compare with `<`"],
  ["++", "write `+ 1`; an expression changes nothing, `@xstate.assign` sets its result"],
  ["**", "multiply"],
  ["&", "write `&&`"],
  ["|", "write `||`"],
  ["^", "write `!=` for either of two, or multiply"],
  ["~", "write `!`"],
  [";", "an expression is one value, without statements"],
  ["`", "put texts in quotes and join them with `+`"],
  ["$", "write names as they are, and join texts with `+`"],
  ["=", "compare with `==`; an expression changes nothing, `@xstate.assign` sets its result"],
];

const WORDS: Readonly<Record<string, string>> = {
  and: "write `&&`",
  or: "write `||`",
  not: "write `!`",
  is: "compare with `==`",
};

/** The library's names of tokens, as they are written. */
const TOKENS: Readonly<Record<string, string>> = {
  EOF: "its end",
  NUMBER: "a number",
  STRING: "a text",
  BOOLEAN: "true or false",
  NULL: "null",
  IDENTIFIER: "a name",
  PLUS: "`+`",
  MINUS: "`-`",
  MULTIPLY: "`*`",
  DIVIDE: "`/`",
  MODULO: "`%`",
  EQ: "`==`",
  NE: "`!=`",
  LT: "`<`",
  LE: "`<=`",
  GT: "`>`",
  GE: "`>=`",
  AND: "`&&`",
  OR: "`||`",
  NOT: "`!`",
  IN: "`in`",
  LPAREN: "`(`",
  RPAREN: "`)`",
  LBRACKET: "`[`",
  RBRACKET: "`]`",
  LBRACE: "`{`",
  RBRACE: "`}`",
  DOT: "`.`",
  COMMA: "`,`",
  COLON: "`:`",
  QUESTION: "`?`",
  BYTES: "bytes",
};

/**
 * What a place that cannot be parsed was surely meant as: goes on after "The expression is not valid: ".
 * A token of the language there, such as `||`, is not taken for a character that it has none of.
 */
export function meantBy(source: string, start: number, isToken: boolean): string | null {
  for (const [text, advice] of ELSEWHERE) {
    if (isToken && text.length === 1) continue;
    for (let from = Math.max(0, start - text.length + 1); from <= start; from++) {
      if (!source.startsWith(text, from)) continue;
      return `there is no \`${text}\` here: ${defaultFor(source, text, from) ?? advice}`;
    }
  }
  const before = /([a-z]+)\s*$/.exec(source.slice(Math.max(0, start - 10), start))?.[1];
  const word = /^[a-z]+/.exec(source.slice(start, start + 10))?.[0];
  const found = [word, before].find((name) => Object.hasOwn(WORDS, name ?? "")) ?? "";
  return Object.hasOwn(WORDS, found) ? `there is no \`${found}\` here: ${WORDS[found]}` : null;
}

const SHOWN_CHARS = 60;

/** `context.a ?? 3` as it is written here, when both sides are simple enough to see. */
function defaultFor(source: string, text: string, from: number): string | null {
  if (text !== "??" || source.length > SHOWN_CHARS) return null;
  const owner = /^\s*([A-Za-z_][\w.]*)\.(\w+)\s*$/.exec(source.slice(0, from));
  const other = /^\s*([\w."']+)\s*$/.exec(source.slice(from + text.length));
  if (owner === null || other === null) return null;
  return `write \`${owner[1]}.?${owner[2]}.orValue(${other[1]})\``;
}

/** The library's sentence without its names of tokens. */
export function inPlainWords(summary: string): string {
  const unexpected = /^Unexpected token: ([A-Z]+)$/.exec(summary)?.[1];
  if (unexpected === "EOF") return "it ends too early";
  if (unexpected !== undefined) return `${token(unexpected)} cannot stand here`;
  const expected = /^Expected ([A-Z]+), got ([A-Z]+)$/.exec(summary);
  if (expected === null) return summary;
  return `${token(expected[1])} should stand here, not ${token(expected[2])}`;
}

function token(name: string | undefined): string {
  return TOKENS[name ?? ""] ?? "something else";
}
