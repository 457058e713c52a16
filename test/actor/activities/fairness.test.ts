import { afterEach, expect, test, vi } from "vitest";
import { implementations } from "../../../src/implementations/index.ts";
import { actorNow, sent, spawned } from "../../support/actors.ts";

afterEach(() => {
  vi.restoreAllMocks();
  for (const name of Object.keys(implementations.sources)) delete implementations.sources[name];
});

/** Two states that lead to each other as soon as their work is done, or has failed. */
function circle(src: string, input: object): object {
  const leading = (to: string) => ({
    invoke: { id: "work", src, input, onDone: to, onError: to },
    on: { STOP: "stopped" },
  });
  return { initial: "a", states: { a: leading("b"), b: leading("a"), stopped: {} } };
}

test.each([
  ["a source that answers at once", "quick", {}],
  [
    "an input that nothing can be done with",
    "http",
    { url: "http://a.example/", timeoutMs: { "@expr": "0 - 1" } },
  ],
])(
  "an actor that goes in a circle with %s lets others be heard, itself included",
  async (_, src, input) => {
    implementations.sources["quick"] = async () => null;
    const id = await spawned(circle(src, input));
    const { seq } = await actorNow(id);
    const other = await spawned({ initial: "a", states: { a: { on: { GO: "b" } }, b: {} } });
    expect((await sent(other, "GO")).status).toBe(200);
    expect((await sent(id, "STOP")).status).toBe(200);
    const stopped = await actorNow(id);
    expect(stopped.stateValue).toBe("stopped");
    // It has been at work all the while.
    expect(stopped.seq).toBeGreaterThan(seq);
  },
);
