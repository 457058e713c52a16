import type { Job } from "./job.ts";
import { value } from "./template.ts";

/** Waits for its call no longer than a moment. What comes of it later is nobody's business. */
export const HURRY = {
  id: "hurry",
  initial: "telling",
  context: { outside: value("input.outside") },
  states: {
    telling: {
      invoke: {
        id: "tell",
        src: "http",
        input: {
          method: "POST",
          url: value('context.outside + "/mail/send"'),
          body: { orderId: value("self.id"), text: "Quick!" },
          timeoutMs: 2_000,
          retry: { initialMs: 100 },
        },
        onDone: "told",
        onError: "failed",
      },
      after: { 150: "left" },
    },
    told: { type: "final" },
    failed: { type: "final" },
    left: { type: "final" },
  },
};

export function hurryOf(id: string, outside: string): Job {
  return {
    id,
    definitionId: "hurry-v1",
    input: { outside },
    events: [],
    paused: false,
    ends: [
      { state: "told", effects: ["mail/send"] },
      { state: "left", effects: [] },
      // It was on its way already.
      { state: "left", effects: ["mail/send"] },
    ],
    misfit: () => null,
    children: () => [],
  };
}
