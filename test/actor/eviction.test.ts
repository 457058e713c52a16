import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { call, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import {
  actorNow,
  advanceClock,
  deployed,
  evict,
  expectReplays,
  records,
  sent,
} from "../support/actors.ts";

// The clock stands still, so that both lives see the same times.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.UTC(2090, 0, 1));
});
afterEach(() => {
  vi.useRealTimers();
});

interface Scenario {
  name: string;
  machine: object;
  spawn?: object;
  /** An event type, `[type, payload]`, ms of clock, or a control action. */
  steps: (string | [string, object] | number | { control: string; body?: object })[];
  ends: object;
}

const history = {
  initial: "form",
  states: {
    form: {
      initial: "one",
      on: { AWAY: "away" },
      states: {
        one: { on: { NEXT: "two" } },
        two: { initial: "x", states: { x: { on: { NEXT: "y" } }, y: {} } },
        last: { type: "history" },
        exact: { type: "history", history: "deep" },
      },
    },
    away: { on: { BACK: "form.last", EXACT: "form.exact" } },
  },
};

const parallel = {
  type: "parallel",
  context: { log: [] },
  states: {
    pay: {
      initial: "open",
      states: {
        open: { after: { "1000": "late" }, on: { PAY: "paid", EITHER: "paid" } },
        late: { tags: ["late"], on: { PAY: "paid" } },
        paid: { type: "final" },
      },
      onDone: {
        actions: {
          type: "@xstate.assign",
          context: { log: { "@expr": "context.log + ['paid']" } },
        },
      },
    },
    ship: {
      initial: "open",
      states: {
        open: {
          on: {
            SHIP: {
              guard: { type: "xstate.stateIn", params: { stateId: "#PAID" } },
              target: "gone",
            },
            EITHER: {},
          },
        },
        gone: { type: "final" },
      },
    },
  },
};

const timers = {
  initial: "idle",
  context: { beats: 0 },
  delays: { PAUSE: { "@expr": "context.beats * 10 + 10" } },
  states: {
    idle: { on: { START: "beat" } },
    beat: {
      entry: { type: "@xstate.assign", context: { beats: { "@expr": "context.beats + 1" } } },
      after: { PAUSE: "rest" },
      on: { STOP: "idle" },
    },
    rest: {
      after: {
        "5": [{ guard: { "@expr": "context.beats < 4" }, target: "beat" }, { target: "end" }],
      },
    },
    end: { type: "final", output: 1 },
  },
  output: { beats: { "@expr": "context.beats" } },
};

const scenarios: Scenario[] = [
  {
    name: "shallow and deep history",
    machine: history,
    steps: ["NEXT", "NEXT", "AWAY", "BACK", "NEXT", "AWAY", "EXACT"],
    ends: { stateValue: { form: { two: "y" } }, historyLength: 7 },
  },
  {
    name: "a parallel machine with guards across regions, a timer, forbidden events and a done region",
    machine: {
      ...parallel,
      states: {
        ...parallel.states,
        pay: {
          ...parallel.states.pay,
          states: { ...parallel.states.pay.states, paid: { id: "PAID", type: "final" } },
        },
      },
    },
    steps: ["SHIP", 400, "SHIP", 700, "EITHER", "PAY", "SHIP"],
    ends: { status: "done", context: { log: ["paid"] }, timers: [] },
  },
  {
    name: "timers whose delays are computed, over many rounds, to an output",
    machine: timers,
    steps: ["START", 5, "STOP", 100, "START", 1_000],
    ends: { status: "done", output: { beats: 4 }, context: { beats: 4 } },
  },
  {
    name: "recorded randomness, time, refs and input",
    machine: {
      initial: "a",
      context: { who: { "@expr": "input.who" }, dice: [] },
      states: {
        a: {
          on: {
            ROLL: {
              actions: [
                {
                  type: "@xstate.assign",
                  context: {
                    dice: { "@expr": "context.dice + [random()]" },
                    id: { "@expr": "uuid()" },
                  },
                },
                { type: "@perdure.setRef", name: "die", value: { "@expr": "uuid()" } },
                { type: "@xstate.emit", event: { type: "rolled", by: { "@expr": "context.who" } } },
              ],
            },
          },
        },
      },
    },
    spawn: { input: { who: "x" }, refs: { order: "o-1" } },
    steps: ["ROLL", "ROLL", "ROLL"],
    ends: { refs: { order: "o-1" }, context: { who: "x" } },
  },
  {
    name: "pause keeps due times and resume fires them",
    machine: {
      initial: "a",
      states: { a: { after: { "1000": "b" } }, b: { after: { "1000": "c" } }, c: {} },
    },
    steps: [{ control: "pause", body: { reason: "holiday" } }, 1_500, { control: "resume" }, 1_000],
    ends: { stateValue: "c", status: "active", seq: 7 },
  },
];

/** Plays a scenario and shows all that an outsider can see of it, without what differs between any two actors. */
async function play(
  scenario: Scenario,
  definitionId: string,
  disturb: (id: string) => Promise<void>,
): Promise<Body> {
  const id = fresh("life");
  const seen: Body[] = [];
  const note = (answer: { status: number; body: Body }): void =>
    void seen.push([answer.status, answer.body]);
  note(await call("POST", "/v1/actors", { body: { definitionId, id, ...scenario.spawn } }));
  for (const step of scenario.steps) {
    await disturb(id);
    if (typeof step === "number") note(await advanceClock(id, step));
    else if (typeof step === "string") note(await sent(id, step));
    else if (Array.isArray(step)) note(await sent(id, ...step));
    else note(await call("POST", `/v1/actors/${id}/${step.control}`, { body: step.body ?? {} }));
  }
  await disturb(id);
  const actor = await actorNow(id);
  expect(actor).toMatchObject(scenario.ends);
  seen.push(await records(id), actor);
  await disturb(id);
  for (let seq = 1; seq <= actor.seq; seq += 1)
    seen.push((await actorNow(id, `?at=${seq}`)).stateValue);
  seen.push(
    (await call("GET", `/v1/actors/${id}/timeline`)).body.items.map(({ state, by }: Body) => [
      state,
      by,
    ]),
  );
  await expectReplays(id);
  return withoutIdentity(seen);
}

const IDENTITY = new Set(["uid", "actorId", "key"]);
/** Values that are derived from the uid or the clock: equal in kind only. */
const DERIVED = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|0\.\d+)$/;

function withoutIdentity(value: Body): Body {
  if (Array.isArray(value)) return value.map(withoutIdentity);
  if (DERIVED.test(String(value))) return "derived";
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !IDENTITY.has(key) && !String(member).startsWith("life-"))
      .map(([key, member]) => [key, withoutIdentity(member)]),
  );
}

describe.each(scenarios)("$name", (scenario) => {
  test("comes out the same when the object is evicted before every step", async () => {
    const definitionId = await deployed(scenario.machine);
    const undisturbed = await play(scenario, definitionId, async () => {});
    const evicted = await play(scenario, definitionId, evict);
    expect(evicted).toEqual(undisturbed);
  });
});
