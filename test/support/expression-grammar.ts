import * as fc from "fast-check";

const literal = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "false",
    "0",
    "1",
    "2u",
    "0x1F",
    "1.5",
    "-3",
    "'a'",
    '"😀"',
    "''",
  ),
  fc.constantFrom("9223372036854775807", "1e308", "5e-324", "b'x'", "[]", "{}", "int", "now"),
);
const path = fc.constantFrom(
  "context",
  "context.a",
  "context.n",
  "context.items",
  "context.items[0]",
  'context["__proto__"]',
  "context.constructor",
  "event.type",
  "input",
  "self.seq",
  "x",
  "y",
);
export const operator = fc.constantFrom(
  ..."+ - * / % == != < <= > >= in && ||".split(" ").map((sign) => ` ${sign} `),
);
const method = fc.constantFrom(
  ..."size startsWith contains split join substring indexOf trim upperAscii getHours orValue".split(
    " ",
  ),
);
const fn = fc.constantFrom(
  ..."size int uint double string bool type dyn timestamp duration has".split(" "),
);
export const macro = fc.constantFrom("map", "filter", "all", "exists", "exists_one");

/** Expressions of every shape, most of them wrong in some way. */
export const { hostile } = fc.letrec<{ hostile: string }>((tie) => ({
  hostile: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    literal,
    path,
    fc.tuple(tie("hostile"), operator, tie("hostile")).map((parts) => `(${parts.join("")})`),
    fc.tuple(fc.constantFrom("!", "-"), tie("hostile")).map((parts) => parts.join("")),
    fc
      .tuple(tie("hostile"), tie("hostile"), tie("hostile"))
      .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(
        tie("hostile"),
        fc.constantFrom(".a", ".?n", "[0]", "[?'b']", "['constructor']", "[x]"),
      )
      .map((parts) => parts.join("")),
    fc
      .tuple(tie("hostile"), method, fc.array(tie("hostile"), { maxLength: 2 }))
      .map(([on, name, args]) => `${on}.${name}(${args.join(", ")})`),
    fc
      .tuple(fn, fc.array(tie("hostile"), { maxLength: 2 }))
      .map(([name, args]) => `${name}(${args.join(", ")})`),
    fc
      .tuple(tie("hostile"), macro, fc.constantFrom("x", "y"), tie("hostile"))
      .map(([on, name, variable, body]) => `${on}.${name}(${variable}, ${body})`),
    fc
      .tuple(fc.constantFrom("x", "y"), tie("hostile"), tie("hostile"))
      .map((parts) => `cel.bind(${parts.join(", ")})`),
    fc.array(tie("hostile"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .array(fc.tuple(literal, tie("hostile")), { maxLength: 3 })
      .map((entries) => `{${entries.map((entry) => entry.join(": ")).join(", ")}}`),
    fc.constantFrom("random()", "uuid()", "timestamp(now)", "duration('1h')"),
  ),
}));
