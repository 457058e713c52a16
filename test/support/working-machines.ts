import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { machineConfig } from "./machines.ts";

/** How a random state works outside; null where it does not. */
interface Work {
  src: string;
  onDone: number;
  onError: number;
  deadlineMs: number | null;
  compensate: boolean;
  children: number;
  choice: boolean;
  /** Which of the states a result leads to. */
  target: number;
}

const work: fc.Arbitrary<Work | null> = fc.option(
  fc.record({
    src: fc.constantFrom("http", "own", "task", "approval", "approval", "actor", "compensate"),
    onDone: fc.nat(4),
    onError: fc.nat(4),
    deadlineMs: fc.option(fc.constantFrom(50, 500)),
    compensate: fc.boolean(),
    children: fc.nat(3),
    choice: fc.boolean(),
    target: fc.nat(20),
  }),
  { freq: 4 },
);

/** Random machines whose states work outside, by every source, with and without handlers; some of these fail. */
export const workingConfig: fc.Arbitrary<JsonObject> = fc
  .tuple(machineConfig, fc.array(work, { minLength: 3, maxLength: 8 }))
  .map(([config, works]) => {
    const ids: string[] = [];
    collectIds(config, ids);
    let next = 0;
    const decorate = (node: JsonObject, isRoot: boolean): JsonObject => {
      const states = node["states"] as { [key: string]: JsonObject } | undefined;
      const below =
        states === undefined
          ? {}
          : {
              states: Object.fromEntries(
                Object.entries(states).map(([key, child]) => [key, decorate(child, false)]),
              ),
            };
      const quiet = isRoot || node["type"] === "final" || node["type"] === "history";
      const given = quiet ? null : (works[next++ % works.length] ?? null);
      const invoke = given === null ? {} : { invoke: invokeOf(given, `i${next}`, ids) };
      return { ...node, ...below, ...invoke };
    };
    return decorate(config, true);
  });

function collectIds(node: JsonObject, ids: string[]): void {
  for (const child of Object.values((node["states"] ?? {}) as { [key: string]: JsonObject })) {
    ids.push(child["id"] as string);
    collectIds(child, ids);
  }
}

function invokeOf(work: Work, id: string, ids: string[]): JsonObject {
  const { src, onDone, onError, compensate, target } = work;
  const handlers: (JsonValue | undefined)[] = [
    undefined,
    { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
    { target: `#${ids[target % ids.length]}` },
    { target: `#${ids[(target + 1) % ids.length]}`, reenter: true },
    // Fails where the result is not what it expects.
    {
      target: `#${ids[(target + 2) % ids.length]}`,
      guard: { "@expr": "event.output.n > 1 || event.error.attempts > 1" },
    },
  ];
  const undoes = compensate && ["http", "own", "task"].includes(src);
  return {
    id,
    src,
    ...inputOf(work, id),
    ...(handlers[onDone] === undefined ? {} : { onDone: handlers[onDone] }),
    ...(handlers[onError] === undefined ? {} : { onError: handlers[onError] }),
    ...(undoes
      ? {
          compensate: {
            src: "http",
            input: { url: "http://a.example/", body: { "@expr": "event.output.n" } },
          },
        }
      : {}),
  };
}

function inputOf({ src, deadlineMs, children, choice }: Work, id: string): { input?: JsonObject } {
  const deadline = deadlineMs === null ? {} : { deadlineMs };
  switch (src) {
    case "http":
      return { input: { url: "http://a.example/", ...deadline } };
    case "own":
      return { input: { n: { "@expr": "context.n" }, ...deadline } };
    case "task":
      return { input: { queue: "q", ...deadline } };
    case "approval":
      return {
        input: {
          assignee: "ann",
          title: "Really?",
          reminders: [{ afterMs: 1, repeatMs: 60_000, max: 2 }],
          escalate: [{ afterMs: 2, to: "bob" }],
          expiresMs: deadlineMs === null ? 700 : deadlineMs,
        },
      };
    case "actor": {
      const inputs = Array.from({ length: children }, (_, index) => index);
      const one = choice && children === 1 ? { input: 1 } : { forEach: inputs };
      const failures = children % 2 === 0 ? "stop" : "collect";
      return { input: { definitionId: "kid", id: `kid-${id}`, ...one, detach: choice, failures } };
    }
    default:
      return {};
  }
}

/** What happens to an actor with work outside; numbers pick among what there is by then. */
export type Happening =
  | { kind: "event"; type: string; n: number }
  | { kind: "advance"; ms: number }
  | { kind: "done" | "failed" | "child" | "late"; pick: number; n: number }
  | { kind: "message"; type: string; n: number | null }
  | { kind: "task"; pick: number; ms: number | null }
  | { kind: "undelivered"; pick: number }
  | { kind: "retry"; pick: number | null }
  | { kind: "pause" }
  | { kind: "terminate" };

const pick = fc.nat(20);
const n = fc.nat(3);
const type = fc.constantFrom("A", "B", "C", "D", "Z");

export const happenings: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("event" as const), type, n }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("advance" as const),
        ms: fc.constantFrom(1, 50, 500, 5_000),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom("done" as const, "done" as const, "failed" as const),
        pick,
        n,
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("child" as const), pick, n }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("late" as const), pick, n }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("message" as const), type, n: fc.option(n) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("task" as const),
        pick,
        ms: fc.option(fc.constantFrom(10, 1_000)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("undelivered" as const), pick }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("retry" as const), pick: fc.option(pick) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "pause" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "terminate" as const }) },
  ),
  { minLength: 5, maxLength: 30, size: "max" },
);
