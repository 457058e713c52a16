import { describe, expect, test } from "vitest";
import { createMachine } from "xstate";
import type { JsonObject } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { edited } from "../support/edit.ts";
import { errorsWith, loan, messageWith } from "../support/problems.ts";

/** The error codes of one target of a transition in `review.first`, or of the root. */
function codesOf(target: string | string[], from = "/states/review/states/first"): string[] {
  return errorsWith({ [`${from}/on`]: { GO: { target } } }).map(
    (problem) => problem.split(" ")[1] ?? "",
  );
}

describe("a target", () => {
  test.each([
    "second",
    "#loan",
    "#checking",
    "#loan.draft",
    "#loan.review.second",
    "#checking.second",
    "end",
  ])("%s leads from a state beside it, an id, or a path below an id", (target) => {
    expect(codesOf(target)).toEqual([]);
  });

  test.each([
    "draft",
    "#draft",
    "#loan.review.third",
    "third",
    "loan.draft",
    "#",
    "#checking.",
    ".",
    ".x",
  ])("%s leads nowhere", (target) => {
    expect(codesOf(target)).toEqual(["unknown_target"]);
  });

  test.each([".draft", ".review.second", "#loan.paid"])("%s leads from the root", (target) => {
    expect(codesOf(target, "")).toEqual([]);
  });

  test.each(["draft", "review.second", "loan.draft", ".drft", ".review..second"])(
    "%s leads nowhere from the root",
    (target) => {
      expect(codesOf(target, "")).toEqual(["unknown_target"]);
    },
  );

  test.each([".first", "paid", "review", "review.second", ".second"])(
    "%s leads from a state with states",
    (target) => {
      expect(codesOf(target, "/states/review")).toEqual([]);
    },
  );

  test("that is empty, no text or an empty list is refused", () => {
    expect(codesOf("")).toEqual(["invalid_target"]);
    expect(codesOf([])).toEqual(["invalid_target"]);
    for (const target of [null, 1, {}, [null]]) {
      expect(errorsWith({ "/states/draft/on/SUBMIT": { target } })[0]).toMatch(/ invalid_target$/);
    }
  });

  test("is found as XState finds it", () => {
    const targets = [
      "first",
      "second",
      "end",
      "review",
      "draft",
      ".first",
      "review.first",
      "#loan",
      "#loan.review",
      "#loan.review.first",
      "#checking",
      "#checking.first",
      "#first",
      "#loan.first",
      "nowhere",
      ".nowhere",
    ];
    for (const from of ["", "/states/draft", "/states/review", "/states/review/states/first"]) {
      for (const target of targets) {
        const definition = edited(loan, { [`${from}/on`]: { GO: target } });
        let throws = false;
        try {
          createMachine(definition as never);
        } catch {
          throws = true;
        }
        expect(checkDefinition(definition).errors.length > 0, `${target} from ${from}`).toBe(
          throws,
        );
      }
    }
  });

  test("with a dot in the machine's id needs it escaped, and the message shows how", () => {
    const dotted = { "/id": "loan.v1", "/states/paid/type": "final" };
    expect(errorsWith({ ...dotted, "/states/draft/on/SUBMIT": "#loan\\.v1.review" })).toEqual([]);
    const message = messageWith({ ...dotted, "/states/draft/on/SUBMIT": "#loan.v1.review" });
    expect(message).toContain(String.raw`"#loan\\.v1"`);
  });

  test("that is unknown is told with what was probably meant", () => {
    expect(messageWith({ "/states/draft/on/SUBMIT": "reviw" })).toContain("Did you mean 'review'?");
    expect(messageWith({ "/states/draft/on/SUBMIT": "second" })).toContain("'#loan.review.second'");
    expect(messageWith({ "/states/draft/on/SUBMIT": "#chekcing" })).toContain("'#checking'");
    expect(messageWith({ "/on": { X: "draft" } })).toContain("'.draft'");
  });

  test("without a near one are answered with the few that there are", () => {
    expect(messageWith({ "/states/draft/on/SUBMIT": "somewhere" })).toMatch(
      / There are 'draft', 'review', 'paid' and 'expired'\.$/,
    );
    expect(messageWith({ "/states/review/states/first/on/OK": "#loan.draft.somewhere" })).toMatch(
      /There is no state 'somewhere' in [^.]*\.$/,
    );
    expect(messageWith({ "/states/draft/on/SUBMIT": "#nobody" })).toMatch(
      /There are '#loan' and '#checking'\.$/,
    );
    expect(
      messageWith({
        "/states/fifth": { type: "final" },
        "/states/sixth": { type: "final" },
        "/states/draft/on/SUBMIT": "somewhere",
      }),
    ).not.toContain("There are");
  });
});

describe("several targets", () => {
  const order: JsonObject = {
    id: "order",
    type: "parallel",
    states: {
      payment: { initial: "due", states: { due: {}, paid: {}, h: { type: "history" } } },
      parcel: {
        type: "parallel",
        states: {
          box: { initial: "open", states: { open: {}, shut: {} } },
          label: { initial: "blank", states: { blank: {}, written: {} } },
        },
      },
      all: { type: "history", history: "deep" },
    },
  };

  function codes(...target: string[]): string[] {
    return checkDefinition(edited(order, { "/on": { GO: { target } } })).errors.map(
      ({ code }) => code,
    );
  }

  test("may lie in different regions, however deep", () => {
    expect(codes(".payment.paid", ".parcel.box.shut")).toEqual([]);
    expect(codes(".payment.paid", ".parcel.box.shut", ".parcel.label.written")).toEqual([]);
    expect(codes(".payment", ".parcel.label.written")).toEqual([]);
    expect(codes(".payment.h", ".parcel.label.written")).toEqual([]);
    expect(codes(".payment.paid")).toEqual([]);
  });

  test.each([
    ["two states of one region", [".payment.paid", ".payment.due"]],
    ["a state and one inside it", [".parcel", ".parcel.label.written"]],
    ["a state inside another and that one", [".parcel.label.written", ".parcel"]],
    ["the same state twice", [".payment.paid", ".payment.paid"]],
    ["the root and a state", ["#order", ".payment.paid"]],
    ["what history brings back and a state of that region", [".payment.h", ".payment.paid"]],
    ["the history of all regions and a state of one", [".all", ".payment.paid"]],
  ])("are refused: %s", (_, target) => {
    expect(codes(...target)).toEqual(["conflicting_targets"]);
  });
});

describe("the target of a history state", () => {
  function codes(history: JsonObject): string[] {
    const states = { "/states/review/states/h": { type: "history", ...history } };
    return errorsWith(states).map((problem) => problem.split(" ")[1] ?? "");
  }

  test.each(["second", "#loan.review.second", "#checking.second", "#checking"])(
    "%s is inside its parent",
    (target) => {
      expect(codes({ target })).toEqual([]);
    },
  );

  test.each([
    ["third", "unknown_target"],
    ["#nobody", "unknown_target"],
    [".second", "invalid_target"],
    ["", "invalid_target"],
    ["#loan.draft", "history_target_outside"],
    ["#loan", "history_target_outside"],
  ])("%j is refused", (target, code) => {
    expect(codes({ target })).toEqual([code]);
  });

  test("may be another history state, but not in a circle", () => {
    expect(
      errorsWith({
        "/states/review/states/h": { type: "history", target: "i" },
        "/states/review/states/i": { type: "history", target: "second" },
      }),
    ).toEqual([]);
    expect(
      errorsWith({
        "/states/review/states/h": { type: "history", target: "i" },
        "/states/review/states/i": { type: "history", target: "h" },
      }),
    ).toEqual([
      "/states/review/states/h/target history_cycle",
      "/states/review/states/i/target history_cycle",
    ]);
  });

  test("that are two lie in two regions", () => {
    expect(codes({ target: ["first", "second"] })).toEqual(["conflicting_targets"]);
  });
});
