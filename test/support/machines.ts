import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";

/** Event types that random machines know; "Z" is known to none. */
const TYPES = ["A", "B", "C", "D"] as const;

interface Shape {
  /** Children of a compound or parallel state; none makes a leaf. */
  children: Shape[];
  parallel: boolean;
  transitions: Transition[];
  after: number | null;
  final: boolean;
  history: "shallow" | "deep" | null;
  always: boolean;
  noteOnEntry: boolean;
}

interface Transition {
  type: string;
  guard: number;
  target: number;
  action: number;
  reenter: boolean;
}

const transition: fc.Arbitrary<Transition> = fc.record({
  type: fc.constantFrom(...TYPES, "*"),
  guard: fc.nat(4),
  target: fc.nat(20),
  action: fc.nat(7),
  reenter: fc.boolean(),
});

const none = fc.constant<Shape[]>([]);

function shape(depth: number): fc.Arbitrary<Shape> {
  return fc.record({
    children:
      depth === 0
        ? none
        : fc.oneof(none, fc.array(shape(depth - 1), { minLength: 1, maxLength: 3 })),
    parallel: fc.boolean(),
    transitions: fc.array(transition, { maxLength: 3 }),
    after: fc.option(fc.constantFrom(10, 100, 1_000)),
    final: fc.boolean(),
    history: fc.option(fc.constantFrom("shallow" as const, "deep" as const)),
    always: fc.boolean(),
    noteOnEntry: fc.boolean(),
  });
}

/** Small valid machines: nested, parallel, history, guards, timers, eventless transitions, raised events. */
export const machineConfig: fc.Arbitrary<JsonObject> = fc
  .tuple(fc.array(shape(2), { minLength: 2, maxLength: 3 }), fc.boolean())
  .map(([children, parallel]) => build(children, parallel));

export type Move = { kind: "event"; type: string; n: number } | { kind: "advance"; ms: number };

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("event" as const),
        type: fc.constantFrom(...TYPES, "Z"),
        n: fc.nat(5),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("advance" as const),
        ms: fc.constantFrom(1, 50, 500, 5_000),
      }),
    },
  ),
  { maxLength: 12 },
);

function build(children: Shape[], parallel: boolean): JsonObject {
  const ids: string[] = [];
  collectIds(children, "s", ids);
  return {
    id: "m",
    ...(parallel ? { type: "parallel" } : { initial: "s0" }),
    context: { n: 0, seen: [] },
    states: states(children, "s", ids),
  };
}

function collectIds(children: Shape[], prefix: string, ids: string[]): void {
  children.forEach((child, index) => {
    const id = `${prefix}${index}`;
    ids.push(id);
    if (child.history && child.children.length > 0) ids.push(`${id}h`);
    collectIds(child.children, `${id}_`, ids);
  });
}

function states(children: Shape[], prefix: string, ids: string[]): JsonObject {
  return Object.fromEntries(
    children.map((child, index) => [`s${index}`, state(child, `${prefix}${index}`, ids)]),
  );
}

function state(shape: Shape, id: string, ids: string[]): JsonObject {
  const leaf = shape.children.length === 0;
  if (leaf && shape.final) return { id, type: "final" };
  const on: Record<string, JsonValue[]> = {};
  for (const given of shape.transitions) (on[given.type] ??= []).push(toConfig(given, ids));
  return {
    id,
    on,
    ...(shape.after === null
      ? {}
      : { after: { [shape.after]: { target: `#${ids[shape.after % ids.length]}` } } }),
    // Moves on once, when n has grown: eventless, but it comes to rest.
    ...(shape.always && leaf
      ? {
          always: {
            guard: { "@expr": "context.n == 3" },
            actions: { type: "@xstate.assign", context: { n: 10 } },
          },
        }
      : {}),
    ...(shape.noteOnEntry
      ? {
          entry: {
            type: "@xstate.assign",
            context: {
              seen: {
                "@expr": `size(context.seen) > 20 ? context.seen : context.seen + ['${id}']`,
              },
            },
          },
        }
      : {}),
    ...(leaf
      ? {}
      : {
          states: below(shape, id, ids),
          ...(shape.parallel ? { type: "parallel" } : { initial: "s0" }),
        }),
  };
}

function below(shape: Shape, id: string, ids: string[]): JsonObject {
  const inner = states(shape.children, `${id}_`, ids);
  return shape.history
    ? { ...inner, h: { id: `${id}h`, type: "history", history: shape.history } }
    : inner;
}

function toConfig({ guard, target, action, reenter }: Transition, ids: string[]): JsonValue {
  const guards: JsonObject[] = [
    {},
    {},
    { guard: { "@expr": "context.n > 2" } },
    { guard: { "@expr": "event.n % 2 == 0" } },
    { guard: { type: "xstate.stateIn", params: { stateId: `#${ids[0]}` } } },
  ];
  const actions: JsonObject[] = [
    {},
    { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + event.n" } } } },
    { actions: { type: "@xstate.raise", event: { type: "C", n: 1 }, delay: 20 } },
    { actions: [{ type: "@xstate.raise", event: { type: "C", n: 2 }, delay: 40, id: "once" }] },
    { actions: [{ type: "@xstate.cancel", id: "once" }] },
    {
      actions: {
        type: "@xstate.emit",
        event: { type: "told", r: { "@expr": "random()" }, u: { "@expr": "uuid()" } },
      },
    },
    { actions: { type: "@perdure.setRef", name: "r", value: { "@expr": "string(int(now))" } } },
    { actions: { type: "@xstate.log", args: [{ "@expr": "self.seq" }] } },
  ];
  // One in three stays where it is: only its actions run, or it forbids.
  const stays = target % 3 === 0;
  return {
    ...(stays ? {} : { target: `#${ids[target % ids.length]}` }),
    ...(reenter && !stays ? { reenter: true } : {}),
    ...guards[guard],
    ...actions[action],
  };
}
