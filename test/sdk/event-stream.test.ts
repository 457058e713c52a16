import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventStreamParser } from "../../src/sdk/event-stream.ts";

const parse = (...pieces: string[]) => {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

describe("an event stream", () => {
  it.each([
    ["an event", "id: 7\ndata: x\n\n", [{ id: "7", data: "x" }]],
    ["lines of data", "data: a\ndata:b\ndata\n\n", [{ id: "", data: "a\nb\n" }]],
    ["an id alone", "id: 7\n\n", [{ id: "7", data: null }]],
    [
      "the id of before",
      "id: 7\n\ndata: x\n\n",
      [
        { id: "7", data: null },
        { id: "7", data: "x" },
      ],
    ],
    ["no comments", ":\n\n: x\n\n", []],
    ["no other fields", "retry: 5\nevent: e\nfoo\ndata: x\n\n", [{ id: "", data: "x" }]],
    ["no event that was cut off", "data: x\n\ndata: y\n", [{ id: "", data: "x" }]],
    [
      "every end of a line",
      "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
      ["a", "b", "c"].map((data) => ({ id: "", data })),
    ],
    ["no byte order mark", "\uFEFFdata: x\n\n", [{ id: "", data: "x" }]],
    ["one space after the colon", "data:  x\n\n", [{ id: "", data: " x" }]],
    ["no id with a NUL", "id: 1\0\ndata: x\n\n", [{ id: "", data: "x" }]],
  ])("gives %s", (_, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it("says the same however it is cut", () => {
    const line = fc.constantFrom(
      "id: 1",
      "id: 22",
      "data: x",
      "data",
      "data:  y",
      ":",
      ":c",
      "",
      "",
    );
    const end = fc.constantFrom("\n", "\r", "\r\n");
    const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(40), { maxLength: 8 }), (whole, cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((to, index) => whole.slice(at[index], to));
        // A CR at the very end may be half of a line's end: whole and pieces are followed by the same.
        expect(parse(...pieces, "data: end\n\n")).toEqual(parse(whole, "data: end\n\n"));
      }),
      { numRuns: 500 },
    );
  });

  it("is given up when an event has no end", () => {
    const parser = new EventStreamParser();
    const megabyte = "x".repeat(1_048_576);
    expect(() => {
      for (let n = 0; n < 20; n += 1) parser.push(`data: ${megabyte}\n`);
    }).toThrow(RangeError);
    expect(() => parse(...Array.from({ length: 20 }, () => megabyte))).toThrow(RangeError);
  });
});
