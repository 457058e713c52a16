import { afterEach, describe, expect, test, vi } from "vitest";
import { implementations } from "../../../src/implementations/index.ts";
import type { SourceArgs } from "../../../src/machine/implementations.ts";
import { LIMITS } from "../../../src/base/limits.ts";
import { arrived } from "../../support/activities.ts";
import {
  actorNow,
  deployed,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../../support/actors.ts";
import { silence } from "../../support/silence.ts";
import { until } from "../../support/until.ts";

type Source = (args: SourceArgs) => Promise<unknown>;

afterEach(() => {
  vi.restoreAllMocks();
  for (const name of Object.keys(implementations.sources)) delete implementations.sources[name];
});

/** A source in code for the time of a test. */
function source(work: Source): void {
  implementations.sources["work"] = work as (typeof implementations.sources)[string];
}

const machine = (input: object) => ({
  initial: "working",
  context: { got: null },
  states: {
    working: {
      invoke: {
        id: "work",
        src: "work",
        input,
        onDone: {
          target: "done",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
        },
        onError: {
          target: "failed",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.error" } } },
        },
      },
      on: { LEAVE: "left" },
    },
    done: {},
    failed: {},
    left: {},
  },
});

/** What becomes of an actor whose source works like that, at once. */
async function outcomeOf(work: Source, state: string, input: object = {}) {
  source(work);
  const id = await spawned(machine({ retry: { maxAttempts: 1 }, ...input }));
  const { stateValue, context } = await arrived(id, state);
  expect(stateValue).toBe(state);
  return context.got;
}

const throwing = (thrown: unknown): Source => {
  silence();
  return () => Promise.reject(thrown);
};

describe("a source in code", () => {
  test("gets input, key, attempt and time, and its answer is the output", async () => {
    const seen: SourceArgs[] = [];
    source(async ({ signal: _signal, ...args }) => {
      seen.push(args as SourceArgs);
      (args.input as { list: number[] }).list.push(2);
      if (args.attempt === 1) throw new Error("not yet");
      return { n: 7 };
    });
    silence();
    const id = await spawned(machine({ list: [1], retry: { initialMs: 0 } }));
    const { context, uid } = await until(
      async () => {
        await ringAlarm(id);
        return await actorNow(id);
      },
      ({ stateValue }) => stateValue === "done",
    );
    expect(context.got).toEqual({ n: 7 });
    // What one attempt does to its input is not in the next one.
    expect(seen).toMatchObject([
      { key: `${uid}:1:0`, attempt: 1, input: { list: [1, 2] } },
      { key: `${uid}:1:0`, attempt: 2, input: { list: [1, 2] } },
    ]);
    expect(seen[0]?.now).toBeGreaterThan(0);
    await expectReplays(id);
  });

  test("that answers nothing has the output null", async () => {
    expect(await outcomeOf(async () => undefined, "done")).toBe(null);
  });

  test.each([
    ["a number that JSON cannot say", Number.NaN],
    ["a bigint", 7n],
    ["a function", () => 7],
    ["a lone surrogate", "\ud800"],
    ["XState's own key", { xstate$$type: 1 }],
  ])("that answers with %s has failed for good", async (_, value) => {
    const got = await outcomeOf(async () => value, "failed", { retry: { maxAttempts: 3 } });
    expect(got).toMatchObject({ code: "failed", attempts: 1 });
    expect(got.message).toContain("no JSON data");
  });

  test("may answer as much as the limit, and no more", async () => {
    const most = "x".repeat(LIMITS.outputBytes - 2);
    expect(await outcomeOf(async () => most, "done")).toHaveLength(most.length);
    const got = await outcomeOf(async () => `${most}x`, "failed");
    expect(got).toMatchObject({ code: "too_large", attempts: 1 });
  });

  test("says by what it throws what went wrong, and whether another attempt is of use", async () => {
    const declined = Object.assign(new Error("No money."), { code: "declined", retryable: false });
    const got = await outcomeOf(throwing(declined), "failed", { retry: { maxAttempts: 3 } });
    expect(got).toEqual({ code: "declined", message: "No money.", attempts: 1 });
  });

  test.each([["text"], [null], [undefined], [{ code: 7, message: { no: 1 } }]])(
    "may throw %s",
    async (thrown) => {
      expect(await outcomeOf(throwing(thrown), "failed")).toMatchObject({ code: "failed" });
    },
  );

  test("that does not end is left behind at its time, whatever it answers later", async () => {
    let late = (): void => {};
    let cut = false;
    const hanging: Source = ({ signal }) =>
      new Promise((resolve) => {
        late = () => resolve("too late");
        signal.addEventListener("abort", () => (cut = true));
      });
    const got = await outcomeOf(hanging, "failed", { timeoutMs: 50 });
    expect(got).toMatchObject({ code: "timeout", attempts: 1 });
    expect(cut).toBe(true);
    late();
  });

  test("is told when its state is left", async () => {
    let cut = false;
    source(({ signal }) => {
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          cut = true;
          reject(new Error("cut"));
        });
      });
    });
    silence();
    const id = await spawned(machine({}));
    await sent(id, "LEAVE");
    expect(cut).toBe(true);
    expect((await records(id)).map(({ kind }) => kind)).toEqual(["spawned", "event"]);
    await expectReplays(id);
  });

  test("that is not there any more is tried until it is there again", async () => {
    source(async () => "back");
    const retry = { initialMs: 1, maxMs: 1, maxAttempts: 100 };
    const definitionId = await deployed(machine({ retry }));
    delete implementations.sources["work"];
    const id = await spawned(definitionId);
    const { activities } = await until(
      () => actorNow(id),
      ({ activities: [one] }) => one.status === "retrying",
    );
    expect(activities[0].lastError.message).toContain("no source 'work'");
    source(async () => "back");
    expect((await arrived(id, "done")).context.got).toBe("back");
  });
});
