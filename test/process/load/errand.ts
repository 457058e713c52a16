import { assign, value } from "../crash/template.ts";

/** Counts, waits, calls, hands out a task, and ends when every bell that was ordered has rung. */
export const ERRAND = {
  id: "errand",
  initial: "open",
  context: { outside: value("input.outside"), n: 0, bells: 0, wanted: 0 },
  on: { BELL: { actions: assign({ bells: value("context.bells + 1") }) } },
  states: {
    open: {
      on: {
        ADD: { actions: assign({ n: value("context.n + 1") }) },
        NAP: "napping",
        CALL: "calling",
        HAND: "handing",
        END: { target: "closing", actions: assign({ wanted: value("event.bells") }) },
      },
    },
    napping: { after: { 250: "open" } },
    calling: {
      invoke: {
        id: "tell",
        src: "http",
        input: {
          method: "POST",
          url: value('context.outside + "/mail/send"'),
          body: { orderId: value("self.id"), text: "On its way." },
        },
        onDone: "open",
        onError: "failed",
      },
    },
    handing: {
      invoke: {
        id: "sign",
        src: "task",
        input: { queue: "errands", retry: { maxAttempts: 20, initialMs: 100 } },
        onDone: "open",
        onError: "failed",
      },
    },
    closing: {
      always: { target: "done", guard: value("context.bells >= context.wanted") },
      after: { 60_000: "failed" },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
};
