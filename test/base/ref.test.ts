import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { isRef, parseRef } from "../../src/base/ref.ts";

const { refNameChars, refValueChars } = LIMITS;

describe("a reference in place of an id", () => {
  it("has a name up to the first colon, and a value", () => {
    expect(parseRef("ref:invoice:2024-17")).toEqual({ name: "invoice", value: "2024-17" });
    expect(parseRef("ref:url:https://a.example/b")).toEqual({
      name: "url",
      value: "https://a.example/b",
    });
    expect(parseRef("ref:note:two\nlines")).toEqual({ name: "note", value: "two\nlines" });
    expect(parseRef("ref:a::")).toEqual({ name: "a", value: ":" });
  });

  it.each(["", "order-1", "Ref:a:b", " ref:a:b", "ref"])("is not %j", (text) => {
    expect(isRef(text)).toBe(false);
    expect(parseRef(text)).toBeNull();
  });

  it.each(["ref:", "ref::", "ref:a", "ref:a:", "ref::b"])(
    "is meant but not given by %j",
    (text) => {
      expect(isRef(text)).toBe(true);
      expect(parseRef(text)).toBeNull();
    },
  );

  it("has a name and a value up to their limits", () => {
    const [name, value] = ["n".repeat(refNameChars), "v".repeat(refValueChars)];
    expect(parseRef(`ref:${name}:${value}`)).toEqual({ name, value });
    expect(parseRef(`ref:${name}n:${value}`)).toBeNull();
    expect(parseRef(`ref:${name}:${value}v`)).toBeNull();
  });
});
