import type { JsonObject, JsonValue } from "../../../src/base/json.ts";

/** A request that looks for something to be done very often. */
export interface Costly {
  name: string;
  method: string;
  path: string;
  body: JsonValue;
}

const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const states = (count: number, make: (n: number) => JsonObject): JsonObject =>
  Object.fromEntries(times(count, (n) => [`s${n}`, make(n)]));

function played(name: string, definition: JsonObject, events: JsonValue[], count = 1): Costly {
  const scenarios = times(count, (n) => ({ name: `${n}`, events }));
  const body = { definition: { id: "m", ...definition }, scenarios };
  return { name, method: "POST", path: "/v1/definitions/scenario", body };
}

function computed(expression: string, context: JsonObject): Costly {
  const actions = { type: "@xstate.assign", context: { got: { "@expr": expression } } };
  const definition = { initial: "a", context, states: { a: { on: { GO: { actions } } } } };
  return played(expression.slice(0, 60), definition, ["GO"]);
}

function checked(name: string, definition: JsonObject): Costly {
  const body = { definition: { id: "m", ...definition } };
  return { name, method: "POST", path: "/v1/definitions/validate", body };
}

function scheduled(cron: string, timezone: string): Costly {
  const body = { cron, timezone, send: { actorId: "nobody", type: "GO" } };
  return { name: `${cron} in ${timezone}`, method: "POST", path: "/v1/schedules", body };
}

/** All steps that one call of `scenario` may take, and what the others are held against. */
export const WHOLE_BUDGET = played(
  "the whole budget of scenarios",
  {
    initial: "a",
    context: { n: 0 },
    states: {
      a: {
        on: {
          GO: {
            actions: {
              type: "@xstate.assign",
              context: { n: { "@expr": "context.n + size([1, 2, 3].map(x, x * 2))" } },
            },
          },
        },
        always: {
          target: "a",
          reenter: true,
          guard: { "@expr": "context.n % 500 != 0" },
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
        },
      },
    },
  },
  times(200, () => "GO"),
  50,
);

const numbers = times(1_000, (n) => n);
const many = times(20_000, () => 1);
const long = "a".repeat(200_000);
const alike = (first: string) => (n: number) =>
  `${first}${"a".repeat(90)}${String(n).padStart(5, "0")}`;

export const COSTLY: readonly Costly[] = [
  computed("context.l.map(x, context.l.map(y, x * y))", { l: numbers }),
  computed("context.l.all(x, context.l == context.m)", { l: many, m: many }),
  computed("context.l.all(x, x in context.l)", { l: many }),
  computed("context.l.all(x, !context.s.contains(context.n))", {
    l: numbers,
    s: long,
    n: `${"a".repeat(1_000)}b`,
  }),
  computed("context.l.map(x, size(context.s.split('')))", { l: numbers, s: long }),
  computed("context.l.map(x, context.s.substring(1))", { l: numbers, s: long }),
  computed("context.l.map(x, context.s + string(x))", { l: numbers, s: long }),
  computed(
    "cel.bind(a, context.s + context.s, cel.bind(b, a + a, cel.bind(c, b + b, size(c + c))))",
    { s: long },
  ),
  computed(`${"(".repeat(199)}1${")".repeat(199)}`, {}),
  computed("!".repeat(4_000), {}),
  computed(times(1_000, () => "[1]").join("+"), {}),
  computed("true ? ".repeat(300) + "1" + " : 1".repeat(300), {}),
  checked("many states", {
    initial: "s0",
    states: states(2_000, (n) => ({ on: { GO: `s${(n + 1) % 2_000}` } })),
  }),
  checked("names that are all alike", {
    initial: alike("x")(0),
    states: Object.fromEntries(
      times(2_000, (n) => [alike("x")(n), { on: { GO: alike("y")(99_999 - n) } }]),
    ),
  }),
  checked("a ring without guards", {
    initial: "s0",
    states: states(2_000, (n) => ({ always: `s${(n + 1) % 2_000}` })),
  }),
  checked("many guards", {
    initial: "a",
    states: {
      a: {
        on: { GO: times(7_000, (n) => ({ guard: { "@expr": `context.n == ${n}` }, target: "a" })) },
      },
    },
  }),
  checked("many events", {
    initial: "a",
    states: { a: { on: Object.fromEntries(times(8_000, (n) => [`E${n}.*`, "a"])) } },
  }),
  checked("many regions", {
    type: "parallel",
    states: states(50, () => ({
      initial: "s0",
      states: states(38, (n) => ({ on: { GO: `s${(n + 1) % 38}` } })),
    })),
  }),
  checked("the same mistake often", {
    initial: "a",
    states: { a: { on: { GO: times(20_000, () => ({ target: "b" })) } } },
  }),
  played(
    "timers without end",
    { initial: "a", states: { a: { after: { 1: "b" } }, b: { after: { 1: "a" } } } },
    times(200, () => ({ advanceMs: 3_155_760_000_000 })),
    50,
  ),
  played(
    "many regions played",
    {
      type: "parallel",
      states: states(50, () => ({
        initial: "s0",
        states: states(38, (n) => ({ on: { GO: `s${(n + 1) % 38}` } })),
      })),
    },
    times(200, () => "GO"),
    50,
  ),
  played(
    "a large context",
    {
      initial: "a",
      context: { s: "a".repeat(400_000) },
      states: {
        a: {
          on: {
            GO: { actions: { type: "@xstate.assign", context: { t: { "@expr": "context.s" } } } },
          },
        },
      },
    },
    times(200, () => "GO"),
    50,
  ),
  scheduled("*/5 * 2 * 3 +SUN#L", "Europe/Berlin"),
  scheduled("*/5 * 1-2 * 3 +SUN#L", "Antarctica/Troll"),
  scheduled("0 0 1-21 * +SUN#L", "America/New_York"),
  scheduled("0 0 30 2 *", "UTC"),
];
