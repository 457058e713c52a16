import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  assign,
  createActor,
  createMachine,
  fromPromise,
  initialTransition,
  transition,
  waitFor,
} from "xstate";
import type { AnyMachineSnapshot, AnyStateMachine, ExecutableActionObject } from "xstate";
import { isJsonObject } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { doneEvent, errorEvent } from "../../src/machine/activity-events.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { contextOf } from "../../src/machine/live.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Step, StepOutcome } from "../../src/machine/step.ts";
import type { EventData, StepScope } from "../../src/machine/types.ts";
import { EVENTS, definitions } from "../support/charts.ts";
import { seeded } from "../support/seeded.ts";

/** Hundreds of charts, on a machine that may be busy. */
vi.setConfig({ testTimeout: 60_000 });

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };

const LEFT_OUT = ["guard", "actions", "context", "entry", "exit", "input", "after"];

/** Without what the two engines write in different ways. */
function bare(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(bare);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !LEFT_OUT.includes(key));
  return Object.fromEntries(kept.map(([key, member]) => [key, bare(member)]));
}

/** A chart whose states say that they are entered and left, and do nothing else. */
function telling(state: JsonObject, say: (what: string) => JsonValue, path = "m"): JsonObject {
  const { states, ...rest } = state;
  const plain = bare(rest) as JsonObject;
  if (plain["type"] === "history") return plain;
  const tells = { entry: say(`in.${path}`), exit: say(`out.${path}`) };
  if (!isJsonObject(states)) return { ...plain, ...tells };
  const below = Object.entries(states).map(([key, child]) => [
    key,
    telling(child as JsonObject, say, `${path}.${key}`),
  ]);
  return { ...plain, ...tells, states: Object.fromEntries(below) as JsonObject };
}

/** XState itself, by its pure functions, with promises that nobody keeps. */
class Reference {
  readonly #machine: AnyStateMachine;
  snapshot: AnyMachineSnapshot;
  done: string[];

  constructor(definition: JsonObject) {
    const http = fromPromise(() => new Promise(() => {}));
    this.#machine = createMachine(definition as never).provide({ actors: { http } as never });
    const [snapshot, actions] = initialTransition(this.#machine as never, undefined as never);
    this.snapshot = snapshot as AnyMachineSnapshot;
    this.done = sequence(actions as ExecutableActionObject[]);
  }

  take(event: EventData): void {
    const [snapshot, actions] = transition(
      this.#machine as never,
      this.snapshot as never,
      event as never,
    );
    this.snapshot = snapshot as AnyMachineSnapshot;
    this.done = sequence(actions as ExecutableActionObject[]);
  }
}

function sequence(actions: readonly ExecutableActionObject[]): string[] {
  return actions.flatMap(({ type, params }) => {
    if (type === "xstate.spawnChild") return [`start ${(params as { id: string }).id}`];
    if (type === "xstate.stopChild") return [`stop ${(params as { id: string }).id}`];
    return type.startsWith("xstate.") ? [] : [type];
  });
}

/** At the end of a machine XState stops all that runs after the last exit action: which comes first is nothing to anyone. */
function ordered(what: readonly string[], status: string): string[] {
  const isStop = (one: string) => one.startsWith("stop ");
  if (status === "active") return [...what];
  return [...what.filter((one) => !isStop(one)), ...what.filter(isStop).toSorted()];
}

function ours({ commands }: Step): string[] {
  return commands.flatMap((command) => {
    switch (command.kind) {
      case "emit":
        return [command.event.type];
      case "start_activity":
        return [`start ${command.id}`];
      case "stop_activity":
        return [`stop ${command.id}`];
      default:
        return [];
    }
  });
}

function taken(outcome: StepOutcome): Step {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome;
}

test("states, entry and exit actions, and what is started and stopped are as XState has it, step by step", () => {
  const seen = { results: 0, errors: 0, starts: 0 };
  fc.assert(
    fc.property(definitions("activities"), fc.integer(), (drawn, seed) => {
      const emitting = (what: string): JsonValue => ({
        type: "@xstate.emit",
        event: { type: what },
      });
      const mine = telling(drawn, emitting);
      if (checkDefinition(withInputs(mine)).errors.length > 0) return;
      const machine = compileDefinition(mine);
      const reference = new Reference(telling(drawn, (what) => ({ type: what })));
      let here = taken(start(machine, SCOPE, undefined, undefined));
      const running = new Map<string, boolean>();
      const compare = (): void => {
        expect(here.live.status).toBe(reference.snapshot.status);
        expect(here.live.value).toEqual(reference.snapshot.value);
        expect(ordered(ours(here), here.live.status)).toEqual(
          ordered(reference.done, here.live.status),
        );
        for (const { kind, ...command } of here.commands) {
          if (kind === "start_activity") running.set((command as { id: string }).id, true);
          if (kind === "stop_activity") running.delete((command as { id: string }).id);
        }
      };
      compare();
      const random = seeded(seed);
      const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
      for (let steps = 0; steps < 20 && here.live.status === "active"; steps += 1) {
        const ids = [...running.keys()];
        let event: EventData = { type: pick(EVENTS) };
        if (ids.length > 0 && random() < 0.6) {
          const id = pick(ids);
          const told = [...machine.invokes.values()].flat().find((one) => one.id === id)?.onError;
          const fails = told === true && random() < 0.5;
          seen[fails ? "errors" : "results"] += 1;
          event = { type: `xstate.${fails ? "error" : "done"}.actor.${id}`, output: 1, error: 2 };
        }
        const outcome = step(machine, here.live, event, SCOPE);
        // A circle that never rests, which XState would walk for ever.
        if (!outcome.ok && outcome.fault.limit === "microsteps") return;
        here = taken(outcome);
        reference.take(event);
        seen.starts += ours(here).filter((what) => what.startsWith("start ")).length;
        compare();
      }
    }),
    { numRuns: 300 },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(100);
});

/** The check wants inputs, which the charts here have lost. */
function withInputs(value: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(value).replaceAll('"src":"http"', '"src":"http","input":{"url":"https://a.b/"}'),
  ) as JsonObject;
}

test.each([true, false])(
  "a started actor of XState goes where its promise leads, kept: %s",
  async (kept) => {
    const chart = (assigned: (what: "output" | "error") => JsonValue | object) => ({
      id: "m",
      initial: "calling",
      context: { got: null },
      states: {
        calling: {
          invoke: {
            id: "call",
            src: "http",
            onDone: { target: "done", actions: assigned("output") },
            onError: { target: "failed", actions: assigned("error") },
          },
        },
        done: {},
        failed: {},
      },
    });
    const result = kept ? { id: 7 } : { code: "timeout", message: "Too long.", attempts: 5 };
    const http = fromPromise(async () => {
      if (kept) return result;
      throw result;
    });
    const take = (what: "output" | "error") =>
      assign({
        got: ({ event }: { event: unknown }) => (event as Record<string, unknown>)[what],
      } as never);
    const reference = createActor(
      createMachine(chart(take) as never).provide({ actors: { http } as never }),
    );
    reference.start();
    const there = (await waitFor(
      reference,
      ({ value }) => value !== "calling",
    )) as AnyMachineSnapshot;

    const ours = compileDefinition(
      chart((what) => ({
        type: "@xstate.assign",
        context: { got: { "@expr": `event.${what}` } },
      })) as JsonObject,
    );
    const begun = taken(start(ours, SCOPE, undefined, undefined));
    const event = kept ? doneEvent("call", result) : errorEvent("call", result);
    const here = taken(step(ours, begun.live, event, SCOPE));
    expect(here.live.value).toBe(there.value);
    expect(contextOf(here.live)).toEqual(there.context);
    expect(contextOf(here.live)).toEqual({ got: result });
  },
);
