import * as fc from "fast-check";

const PIECES = [
  ..."()[]{}.,?:!+-*/%<>=&|'\"\\ \n\u0000",
  "&&",
  "==",
  "in",
  "null",
  "context",
  "event.",
  "self",
  "input",
  "1e999",
  "0x",
  ".map(x, ",
  "cel.bind(a, ",
  "size(",
  "[?0]",
  "\ud83d",
  "@expr",
];

/** Texts that some text becomes by one to three pieces taken out, put in or said twice. */
export function mutatedText(texts: readonly string[]): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat({ max: 9_999 }),
    length: fc.nat({ max: 6 }),
    piece: fc.option(fc.constantFrom(...PIECES)),
  });
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([text, changes]) =>
      changes.reduce((now, { at, length, piece }) => {
        const from = at % (now.length + 1);
        const taken = now.slice(from, from + length);
        return now.slice(0, from) + (piece ?? taken + taken) + now.slice(from + length);
      }, text),
    );
}
