import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { start, step } from "../../src/machine/step.ts";
import type { StepOutcome } from "../../src/machine/step.ts";
import type { EventData, StepScope } from "../../src/machine/types.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };

function sent(definition: JsonObject, event: EventData): StepOutcome {
  const machine = compileDefinition({ id: "m", initial: "a", ...definition });
  const begun = start(machine, SCOPE, undefined, undefined);
  if (!begun.ok) throw new Error(begun.fault.message);
  return step(machine, begun.live, event, SCOPE);
}

const exceeds = (limit: string): object => ({
  ok: false,
  fault: { code: "limit_exceeded", limit, message: expect.stringContaining(limit) },
});

test("an output is kept at the limit of its bytes, and refused one past it", () => {
  const ending = {
    output: { "@expr": "event.output" },
    states: { a: { on: { END: "b" } }, b: { type: "final", output: { "@expr": "context.text" } } },
  };
  const ended = (chars: number): StepOutcome =>
    sent({ ...ending, context: { text: "x".repeat(chars) } }, { type: "END" });
  const quotes = 2;
  expect(ended(LIMITS.outputBytes - quotes)).toMatchObject({ ok: true, live: { status: "done" } });
  expect(ended(LIMITS.outputBytes - quotes + 1)).toMatchObject(exceeds("outputBytes"));
});

test("what a step emits and logs is kept at the limit of its bytes, and refused one past it", () => {
  const talking = {
    states: {
      a: {
        on: {
          SAY: {
            actions: [
              { type: "@xstate.emit", event: { type: "said", text: { "@expr": "event.text" } } },
              { type: "@xstate.log", args: [{ "@expr": "event.text" }] },
            ],
          },
        },
      },
    },
  };
  const said = (chars: number): StepOutcome =>
    sent(talking, { type: "SAY", text: "x".repeat(chars) });
  const around = JSON.stringify([{ type: "said", text: "" }, [""]]).length;
  const most = (LIMITS.emittedBytes - around) / 2;
  expect(said(Math.floor(most)).ok).toBe(true);
  expect(said(Math.floor(most) + 1)).toMatchObject(exceeds("emittedBytes"));
});

test("a list of decisions is kept up to its limit; what is left out is counted", () => {
  const logged = (count: number): StepOutcome =>
    sent(
      {
        states: {
          a: {
            on: {
              LOG: {
                actions: Array.from({ length: count }, (_, n) => ({
                  type: "@xstate.log",
                  args: [n],
                })),
              },
            },
          },
        },
      },
      { type: "LOG" },
    );
  const full = logged(LIMITS.decisionsPerRecord);
  expect(full).toMatchObject({
    ok: true,
    decisions: { logs: { length: LIMITS.decisionsPerRecord } },
  });
  expect(full).not.toHaveProperty("decisions.omitted");
  expect(logged(LIMITS.decisionsPerRecord + 1)).toMatchObject({
    ok: true,
    decisions: { logs: { length: LIMITS.decisionsPerRecord }, omitted: 1 },
  });
});
