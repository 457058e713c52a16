import type { Job } from "../crash/job.ts";
import { assign, value } from "../crash/template.ts";

const DAY_MS = 86_400_000;

/** A decision by a person, a pause of days, a short one, a call outside; and notes that were ordered for later. */
export const LIFE = {
  id: "life",
  initial: "open",
  context: { outside: value("input.outside"), added: 0, notes: 0, approved: null },
  on: {
    ADD: { actions: assign({ added: value("context.added + 1") }) },
    NOTE: { actions: assign({ notes: value("context.notes + 1") }) },
  },
  states: {
    open: { on: { ASK: "asking" } },
    asking: {
      invoke: {
        id: "consent",
        src: "approval",
        input: { assignee: "dora", title: "May it go on?" },
        onDone: {
          target: "waiting",
          actions: assign({ approved: value("event.output.approved") }),
        },
        onError: "failed",
      },
    },
    waiting: { after: { [3 * DAY_MS]: "resting" } },
    resting: { after: { 50: "telling" } },
    telling: {
      invoke: {
        id: "tell",
        src: "http",
        input: {
          method: "POST",
          url: value('context.outside + "/mail/send"'),
          body: { orderId: value("self.id"), text: "It goes on." },
          timeoutMs: 2_000,
          retry: { initialMs: 100, maxMs: 500 },
        },
        onDone: "listening",
        onError: "failed",
      },
    },
    listening: { always: { target: "done", guard: value("context.notes >= 2") } },
    done: { type: "final" },
    failed: { type: "final" },
  },
};

/** When its two notes come: the first while it waits, the second when the clock is moved. */
export const NOTES_MS = [200, DAY_MS];

export function lifeOf(outside: string): Job {
  return {
    id: "life",
    definitionId: "life-v1",
    input: { outside },
    events: ["ADD", "ADD", "ASK"].map((type, n) => ({ type, payload: {}, key: `event-${n}` })),
    paused: false,
    ends: [{ state: "done", effects: ["mail/send"] }],
    misfit: ({ added, notes, approved }) =>
      added === 2 && notes === 2 && approved === true ? null : { added, notes, approved },
    children: () => [],
  };
}

/** Does nothing by itself: only a sweep brings it to another version. */
export const SITTER = {
  id: "sitter",
  initial: "sitting",
  states: { sitting: { on: { POKE: {} } } },
};
