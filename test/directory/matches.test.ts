import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classOf, classText } from "../../src/directory/actor-class.ts";
import type { ActorClass } from "../../src/directory/rpc.ts";
import { hasPath, matches, shareOf } from "../../src/directory/matches.ts";
import type { Filter } from "../../src/directory/rpc.ts";
import type { StateValue } from "../../src/machine/types.ts";

const base: ActorClass = {
  definitionId: "loan-v1",
  family: "loan",
  status: "active",
  stateValue: { review: "manual", other: "x" },
  tags: ["hot"],
  attention: [],
};

describe("a state's path", () => {
  const value: StateValue = { review: "manual", other: { deep: { er: "x" } }, "a.b": "c.d" };
  test.each(["review", "review.manual", "other", "other.deep", "other.deep.er", "other.deep.er.x"])(
    "%s is active",
    (path) => expect(hasPath(value, path)).toBe(true),
  );
  test.each(["a.b", "a.b.c.d"])("%s is active, with dots in its keys", (path) =>
    expect(hasPath(value, path)).toBe(true),
  );
  test.each([
    "",
    "manual",
    "review.",
    "review.man",
    "rev",
    "deep",
    "other.x",
    "a",
    "a.b.c",
    "review.manual.x",
  ])("'%s' is not", (path) => expect(hasPath(value, path)).toBe(false));
  test.each([
    ["a", "a", true],
    ["a", "a.b", false],
    ["a.b", "a", false],
    ["a.b", "a.b", true],
  ])("of the atomic value %s: %s is %s", (atomic, path, active) =>
    expect(hasPath(atomic, path)).toBe(active),
  );

  test("is active exactly when it is a way down the value", () => {
    const values = fc.letrec<{ value: StateValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("a", "b", "c"),
        fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
      ),
    })).value;
    const ways = (of: StateValue): string[] =>
      typeof of === "string"
        ? [of]
        : Object.entries(of).flatMap(([key, child]) => [
            key,
            ...ways(child).map((way) => `${key}.${way}`),
          ]);
    const paths = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(values, paths, (of, path) => {
        expect(hasPath(of, path.join("."))).toBe(ways(of).includes(path.join(".")));
      }),
    );
  });
});

describe("a filter", () => {
  const cases: [Filter, boolean][] = [
    [{}, true],
    [{ definitionId: "loan-v1" }, true],
    [{ definitionId: "loan" }, false],
    [{ family: "loan" }, true],
    [{ family: "loan-v1" }, false],
    [{ status: "active" }, true],
    [{ status: "done" }, false],
    [{ tag: "hot" }, true],
    [{ tag: "ho" }, false],
    [{ state: "review.manual", tag: "hot", family: "loan" }, true],
    [{ state: "review.manual", tag: "cold" }, false],
    [{ state: "manual" }, false],
  ];
  test.each(cases)("%j takes it: %s", (filter, takes) =>
    expect(matches(filter, base, false)).toBe(takes),
  );

  test("asks of attention what the class and the time say", () => {
    const parked: ActorClass = { ...base, attention: ["parked"] };
    const paused: ActorClass = { ...base, status: "paused" };
    const done: ActorClass = { ...base, status: "done" };
    const shares = (attention: NonNullable<Filter["attention"]>) =>
      [base, parked, paused, done].map((one) => shareOf({ attention }, one));
    expect(shares(true)).toEqual(["overdue", "every", "none", "overdue"]);
    expect(shares(false)).toEqual(["punctual", "none", "every", "punctual"]);
    expect(shares("parked")).toEqual(["none", "every", "none", "none"]);
    expect(shares("timer_overdue")).toEqual(["overdue", "overdue", "none", "overdue"]);
    expect(shares("stranded")).toEqual(["none", "none", "none", "none"]);
    expect(matches({ attention: true }, base, true)).toBe(true);
    expect(matches({ attention: true }, base, false)).toBe(false);
    expect(matches({ attention: false }, base, true)).toBe(false);
    expect(matches({ attention: false }, base, false)).toBe(true);
    expect(shareOf({ attention: true, tag: "cold" }, parked)).toBe("none");
  });
});

test("a class does not depend on the order of tags, reasons and regions", () => {
  const a = classOf({ ...base, tags: ["b", "a"], attention: ["parked", "timer_overdue", "error"] });
  const b = classOf({
    ...base,
    stateValue: { other: "x", review: "manual" },
    tags: ["a", "b"],
    attention: ["error", "parked", "parked"],
  });
  expect(classText(a)).toBe(classText(b));
  expect(a.attention).toEqual(["error", "parked"]);
  expect(classText(a)).not.toBe(classText({ ...a, status: "done" }));
});
