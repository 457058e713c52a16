import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { edited } from "../support/edit.ts";
import { loan, messageWith, warningsOf } from "../support/problems.ts";

function warningsIn(value: JsonValue): string[] {
  return warningsOf(edited(loan, { "/context/x": value }));
}

describe("data that was surely meant as an expression", () => {
  test.each(["@exp", "$expr", "@Expr", "expr", "EXPR", "@exrp", "@expression"])(
    "is warned of when its only key is %s",
    (key) => {
      expect(warningsIn({ [key]: "input.n" })).toEqual([
        "/context/x near_expression_key",
        `/context/x/${key} text_like_expression`,
      ]);
      expect(warningsIn({ [key]: "1", "@lang": "cel" })).toEqual([
        "/context/x near_expression_key",
      ]);
    },
  );

  test.each<JsonValue>([
    { exp: "2030-01-01" },
    { $ref: "#/x" },
    { "@type": "Person" },
    { expr: 1 },
    { expr: "1", more: true },
    {},
  ])("is not suspected in %j", (value) => {
    expect(warningsIn(value)).toEqual([]);
  });

  test.each([
    "context.n + 1",
    "event.by",
    "input.customer",
    "1 + context.n",
    "size(event.items) > 0",
    "!context.ok",
  ])("is warned of when a text reads %s", (text) => {
    expect(warningsIn([{ a: text }])).toEqual(["/context/x/0/a text_like_expression"]);
  });

  test.each([
    "See event.by for more",
    "input. Please go on",
    "context",
    "1 + 1",
    "my-context.example",
    "https://example.org/context.html",
    "order.event.created",
    "",
  ])("is not suspected in the text '%s'", (text) => {
    expect(warningsIn(text)).toEqual([]);
  });

  test("is warned of wherever a template stands", () => {
    const text = "event.n";
    const entry = [
      { type: "@xstate.assign", context: { amount: text } },
      { type: "@xstate.emit", event: { type: "event.told", n: text } },
      { type: "@xstate.log", args: [text] },
      { type: "@perdure.setRef", name: "invoice", value: text },
    ];
    const patch = { target: "paid", context: { amount: text } };
    expect(
      warningsOf(edited(loan, { "/output": text, "/entry": entry, "/states/draft/on/GO": patch })),
    ).toEqual([
      "/entry/0/context/amount text_like_expression",
      "/entry/1/event/n text_like_expression",
      "/entry/2/args/0 text_like_expression",
      "/entry/3/value text_like_expression",
      "/output text_like_expression",
      "/states/draft/on/GO/context/amount text_like_expression",
    ]);
  });

  test("is shown as the expression that it would be", () => {
    const { warnings } = checkDefinition(
      edited(loan, { "/context": { a: "input.n", b: { $expr: 'input.kind == "x"' } } }),
    );
    expect(warnings.map(({ message }) => message)).toEqual([
      'This is text and stays as it is; to have it evaluated write {"@expr": "input.n"}.',
      "This stays an object with the key '$expr'; nothing evaluates it." +
        String.raw` Did you mean {"@expr": "input.kind == \"x\""}?`,
      String.raw`This is text and stays as it is; to have it evaluated write {"@expr": "input.kind == \"x\""}.`,
    ]);
  });

  test("is suggested as a guard", () => {
    const guard = { $expr: "context.amount > 1" };
    expect(messageWith({ "/states/draft/on/GO": { target: "paid", guard } })).toMatch(
      /Did you mean \{"@expr": "context.amount > 1"\}\?$/,
    );
  });
});
