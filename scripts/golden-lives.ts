import type { JsonObject } from "../src/base/json.ts";
import type { Birth, Input } from "../src/lifecycle/input.ts";
import type { LogRecord } from "../src/lifecycle/types.ts";
import type { CompiledMachine } from "../src/machine/compile.ts";

/** A life that is written down as it goes. */
export interface Life {
  name: string;
  definition: JsonObject;
  /** Further definitions that it comes to, by hash. */
  others?: { [hash: string]: JsonObject };
  birth?: Partial<Birth>;
  /** Inputs, and ms to let pass between them; those that move the actor are made of what there is by then. */
  inputs: (Input | number | ((machineOf: MachineOf, records: LogRecord[]) => Input))[];
}

export type MachineOf = (hash: string) => CompiledMachine;

const event = (type: string, payload: JsonObject | null = null): Input => ({
  kind: "event",
  type,
  payload,
});
export const START = Date.UTC(2026, 10, 29, 12);

/** Before there were moves and activities. */
const PLAIN: Life[] = [
  {
    name: "alive",
    definition: {
      id: "everything",
      type: "parallel",
      context: { n: { "@expr": "input.n" }, seen: [] },
      output: { n: { "@expr": "context.n" } },
      delays: { SOON: { "@expr": "context.n * 1000" } },
      states: {
        form: {
          initial: "one",
          tags: ["open"],
          on: { AWAY: ".away", FORBIDDEN: {} },
          states: {
            one: { on: { NEXT: "two" } },
            two: {
              initial: "x",
              states: { x: { on: { NEXT: "y" } }, y: { after: { SOON: "#late" } } },
            },
            away: { on: { BACK: "last", END: "end" } },
            last: { type: "history", history: "deep" },
            late: { id: "late", on: { AWAY: "away" } },
            end: { type: "final" },
          },
        },
        notes: {
          initial: "open",
          states: {
            open: {
              after: { "2900": { guard: { "@expr": "context.missing" }, target: "full" } },
              on: {
                NOTE: {
                  actions: [
                    {
                      type: "@xstate.assign",
                      context: { seen: { "@expr": "context.seen + [event.text]" } },
                    },
                    {
                      type: "@xstate.raise",
                      event: { type: "NOTED", dice: { "@expr": "random()" } },
                      delay: 10,
                      id: "noted",
                    },
                    { type: "@perdure.setRef", name: "note", value: { "@expr": "uuid()" } },
                    {
                      type: "@xstate.emit",
                      event: { type: "noted", text: { "@expr": "event.text" } },
                    },
                    { type: "@xstate.log", args: [{ "@expr": "self.seq" }] },
                  ],
                },
                NOTED: [{ guard: { "@expr": "size(context.seen) > 5" }, target: "full" }],
                END: "full",
              },
            },
            full: { type: "final" },
          },
        },
      },
    },
    birth: {
      input: { n: 2 },
      context: { extra: { constructor: 1 } },
      refs: { order: "o-1" },
      requestedAs: "everything",
    },
    inputs: [
      event("NEXT"),
      5,
      event("NOTE", { text: "first" }),
      event("FORBIDDEN"),
      event("UNKNOWN"),
      20,
      event("NEXT"),
      { kind: "scheduled", type: "NOTE", payload: { text: "later" }, dueAt: START + 60_000 },
      { kind: "scheduled", type: "NOTE", payload: null, dueAt: START + 70_000 },
      { kind: "unscheduled", timerId: "t5" },
      { kind: "paused", reason: "audit" },
      { kind: "resumed", reason: null },
      { kind: "refs_changed", refs: { order: null, customer: "c-1" } },
      { kind: "clock_advanced", ms: 1_000 },
      3_000,
      10,
      { kind: "retried", items: ["t1"] },
      1,
      event("AWAY"),
    ],
  },
  {
    name: "finished",
    definition: {
      id: "short",
      initial: "a",
      output: { "@expr": "{'at': now}" },
      states: { a: { on: { END: "b" } }, b: { type: "final" } },
    },
    inputs: [event("END")],
  },
  {
    name: "adopted",
    definition: {
      id: "adoptee",
      initial: "form",
      states: {
        form: {
          initial: "one",
          after: { "1000": "away" },
          states: { one: {}, two: {}, last: { type: "history" } },
        },
        away: { on: { BACK: "form.last" } },
      },
    },
    birth: { snapshot: { value: { form: "two" }, context: { old: true } } },
    inputs: [2_000, event("BACK"), { kind: "terminated", reason: "done with" }],
  },
];

export const HASH = { one: "ab".repeat(32), two: "cd".repeat(32) };
const MOVE = {
  ruleId: "r_0123456789abcdef",
  from: "loan-v1",
  to: "loan-v2",
  toHash: HASH.two,
  decidedAtSeq: 2,
  stateMapping: { waiting: "checks.income" },
  contextMapping: { "income.asked": { "@expr": "now" } },
  entered: { "checks.income": START },
};

/** With a move by a rule, and its rollback. */
const MOVED: Life[] = [
  {
    name: "moved",
    definition: {
      id: "loan",
      initial: "form",
      states: {
        form: { on: { PAY: "waiting" } },
        waiting: { after: { "60000": "late" }, on: { BACK: "form" } },
        late: {},
      },
    },
    others: {
      [HASH.two]: {
        id: "loan",
        initial: "checks",
        states: {
          checks: {
            initial: "income",
            states: {
              income: { after: { "60000": "#late", "1000": "asked" }, on: { BACK: "asked" } },
              asked: { on: { BACK: "income" } },
            },
          },
          late: { id: "late" },
        },
      },
    },
    inputs: [
      event("PAY"),
      500,
      () => ({
        kind: "not_migrated",
        move: { ...MOVE, ruleId: "r_fedcba9876543210" },
        reason: "state_missing: 'waiting': the new version has no such state.",
        stranded: true,
      }),
      (machineOf) => ({ kind: "migrated", move: MOVE, machine: machineOf(HASH.two) }),
      (machineOf, records) => ({
        kind: "rolled_back",
        moved: records.at(-1) as LogRecord,
        machine: machineOf(HASH.one),
        reason: "too early",
      }),
      (machineOf) => ({
        kind: "rescued",
        stateValue: { checks: "income" },
        to: { id: "loan-v2", hash: HASH.two, machine: machineOf(HASH.two) },
        reason: "by hand",
      }),
      2_000,
    ],
  },
];

const HOUR = 3_600_000;
/** What an approval asks. */
const RELEASE = {
  assignee: "ann",
  title: "Ship it?",
  reminders: [{ afterMs: HOUR, repeatMs: HOUR, max: 2 }],
  escalate: [{ afterMs: 2 * HOUR, to: "bob" }],
  expiresMs: 24 * HOUR,
};
const GONE = { code: "actor_not_found", message: "There is no actor 'golden-2'." };
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  src: "http",
  input: { url: `http://${id}.example/`, body: { "@expr": "context.n" }, deadlineMs: HOUR },
  compensate: { src: "http", input: { url: { "@expr": "event.output.body.undo" } } },
  ...more,
});
const output = (undo: string): JsonObject => ({ status: 200, headers: {}, body: { undo } });
const refused = { code: "http_status", message: "It said no.", attempts: 5, status: 422 };
const PARENT = { id: "golden-0", uid: "f".repeat(32), ref: "7:0", index: 2 };

/** With activities, children and messages. */
const WORKING: Life[] = [
  {
    name: "working",
    definition: {
      id: "order",
      initial: "charging",
      context: { n: 1, heard: [] },
      on: {
        BACK: ".charging",
        HELLO: {
          actions: [
            {
              type: "@xstate.assign",
              context: { heard: { "@expr": "context.heard + [event.n]" } },
            },
            { type: "@xstate.sendTo", to: "golden-2", event: { type: "HEARD" } },
            { type: "@xstate.sendTo", to: "#_parent", event: { type: "LATER" }, delay: 1_000 },
          ],
        },
      },
      states: {
        charging: { invoke: call("charge", { onDone: "reserving", onError: "idle" }) },
        reserving: { invoke: call("reserve", { onDone: "asking" }) },
        asking: {
          invoke: {
            id: "ask",
            src: "approval",
            input: RELEASE,
            onDone: { guard: { "@expr": "event.output.approved" }, target: "scanning" },
            onError: "undoing",
          },
        },
        scanning: {
          invoke: { id: "scan", src: "task", input: { queue: "scans" }, onError: "undoing" },
          on: { SKIP: "undoing" },
        },
        undoing: {
          invoke: { id: "undo", src: "compensate", onDone: "idle", onError: "idle" },
        },
        idle: { on: { BACK: "charging" } },
      },
    },
    birth: { parent: PARENT },
    inputs: [
      { kind: "activity_done", ref: "1:0", output: output("http://charge.example/1"), attempts: 2 },
      {
        kind: "activity_failed",
        ref: "2:0",
        error: refused,
        errors: [{ attempt: 5, at: START, code: "http_status", message: "No.", status: 422 }],
      },
      { kind: "retried", items: ["2:0"] },
      // What undoes it is not in there: the step fails, and the result is parked.
      { kind: "activity_done", ref: "2:0", output: null, attempts: 1 },
      { kind: "retried", items: ["t4"] },
      1,
      {
        kind: "rescued",
        stateValue: "asking",
        to: null,
        reason: "by hand",
      },
      { kind: "message", type: "HELLO", payload: { n: 1 } },
      { kind: "message", type: "HELLO", payload: null },
      2_000,
      { kind: "undelivered", ref: "9:0", to: "golden-2", event: { type: "HEARD" }, ...GONE },
    ],
  },
  {
    name: "approved",
    definition: {
      id: "approved",
      initial: "asking",
      context: { got: null },
      states: {
        asking: {
          invoke: {
            id: "ask",
            src: "approval",
            input: RELEASE,
            onDone: {
              target: "scanning",
              actions: {
                type: "@xstate.assign",
                context: { got: { "@expr": "event.output" } },
              },
            },
          },
        },
        scanning: {
          invoke: {
            id: "scan",
            src: "task",
            input: { queue: "scans", deadlineMs: 1_000 },
            onError: "idle",
          },
        },
        idle: { on: { BACK: "asking" } },
      },
    },
    inputs: [
      HOUR,
      HOUR,
      HOUR,
      { kind: "task_changed", ref: "1:0", assignee: "bob", expiresAt: START + 30 * HOUR },
      {
        kind: "activity_done",
        ref: "1:0",
        output: { approved: true, by: "bob", comment: null },
        attempts: 1,
      },
      { kind: "activity_done", ref: "1:0", output: null, attempts: 1 },
      2_000,
    ],
  },
  {
    name: "undone",
    definition: {
      id: "undone",
      initial: "charging",
      context: { n: 1 },
      states: {
        charging: { invoke: call("charge", { onDone: "reserving" }) },
        reserving: { invoke: call("reserve", { onDone: "working" }) },
        working: {
          invoke: {
            id: "kids",
            src: "actor",
            input: { definitionId: "kid", forEach: [1, 2], refs: { of: "golden-1" } },
            onError: "undoing",
          },
          on: { TELL: { actions: { type: "@xstate.sendTo", to: "kids", event: { type: "X" } } } },
        },
        undoing: {
          invoke: { id: "undo", src: "compensate", onDone: "idle", onError: "idle" },
        },
        idle: { on: { BACK: "charging" } },
      },
    },
    inputs: [
      { kind: "activity_done", ref: "1:0", output: output("http://charge.example/1"), attempts: 1 },
      {
        kind: "activity_done",
        ref: "2:0",
        output: output("http://reserve.example/1"),
        attempts: 1,
      },
      event("TELL"),
      { kind: "child_done", ref: "3:0", index: 1, output: { n: 2 } },
      {
        kind: "child_failed",
        ref: "3:0",
        index: 0,
        error: { code: "terminated", message: "The actor was terminated.", attempts: 1 },
      },
      { kind: "activity_failed", ref: "6:1", error: refused },
      { kind: "activity_done", ref: "7:0", output: output(""), attempts: 1 },
      1,
    ],
  },
  {
    name: "carried",
    definition: {
      id: "loan",
      initial: "form",
      context: { n: 1 },
      states: {
        form: {
          type: "parallel",
          states: {
            charge: { invoke: call("charge", { onDone: "#loan.idle" }) },
            scan: { invoke: { id: "scan", src: "task", input: { queue: "scans" } } },
          },
        },
        idle: { on: { BACK: "form" } },
      },
    },
    others: {
      [HASH.two]: {
        id: "loan",
        initial: "form",
        context: { n: 1 },
        states: {
          form: {
            type: "parallel",
            states: {
              paying: { invoke: call("charge", { onDone: "#loan.idle" }) },
              scan: {
                invoke: {
                  id: "ask",
                  src: "approval",
                  input: { assignee: "ann", title: { "@expr": "string(context.n)" } },
                },
              },
            },
          },
          idle: { on: { BACK: "form" } },
        },
      },
    },
    inputs: [
      500,
      (machineOf) => ({
        kind: "migrated",
        move: {
          ...MOVE,
          decidedAtSeq: 1,
          stateMapping: { "form.charge": "form.paying" },
          contextMapping: {},
          entered: {},
        },
        machine: machineOf(HASH.two),
      }),
      { kind: "activity_done", ref: "1:0", output: output("http://charge.example/1"), attempts: 3 },
    ],
  },
  {
    name: "child",
    definition: {
      id: "kid",
      initial: "a",
      output: { n: { "@expr": "context.n" } },
      states: {
        a: { invoke: call("own", { compensate: undefined as never }), on: { END: "b" } },
        b: { type: "final" },
      },
      context: { n: { "@expr": "input.n" } },
    },
    birth: { parent: PARENT, input: { n: 1 } },
    inputs: [event("END")],
  },
];

export const LIVES: readonly Life[] = [...PLAIN, ...MOVED, ...WORKING];
