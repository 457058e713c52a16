import * as fc from "fast-check";
import { createActor, createMachine } from "xstate";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import { wake } from "../../src/lifecycle/actor.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { decodeEnvelope, encodeEnvelope } from "../../src/lifecycle/envelope.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { decodeRecord, encodeBody } from "../../src/lifecycle/record.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { activePaths } from "../../src/machine/view.ts";
import { machineConfig, moves } from "../support/machines.ts";
import type { Move } from "../support/machines.ts";

const ADDRESS = { tenant: "t", id: "a" };
const BIRTH = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };

interface Life {
  actor: Actor;
  records: LogRecord[];
  /** Faults that refused an event, by the move's index. */
  faults: string[];
}

/** Plays moves on a machine; with `evict`, everything in memory is thrown away and read back before each input. */
function live(config: never, plays: readonly Move[], evict: boolean): Life | null {
  const machine = compileDefinition(config);
  const again = compileDefinition(config);
  const evicted = (actor: Actor): Actor =>
    evict ? wake(decodeEnvelope(encodeEnvelope(actor.envelope)), again) : actor;
  const born = beginActor(ADDRESS, machine, BIRTH, 1_000, NO_ORIGIN);
  if (!born.ok) return null;
  let { actor } = born;
  const records = [born.record];
  const faults: string[] = [];
  let now = 1_000;
  const take = (input: Parameters<typeof advance>[1]): void => {
    const outcome = advance(evicted(actor), input, now, NO_ORIGIN);
    if (!outcome.ok) return void faults.push(outcome.fault.message);
    expectConsistent(actor, outcome.actor);
    actor = outcome.actor;
    records.push(outcome.record);
  };
  const fireDue = (until: number): void => {
    for (let fired = 0; fired < 50; fired += 1) {
      const timer = actor.envelope.timers[0];
      if (!timer || timer.dueAt > until || actor.envelope.status !== "active") break;
      now = Math.max(now, timer.dueAt);
      take({ kind: "timer", timerId: timer.id });
    }
    now = Math.max(now, until);
  };
  for (const move of plays) {
    if (actor.envelope.status !== "active") break;
    if (move.kind === "advance") fireDue(now + move.ms);
    else take({ kind: "event", type: move.type, payload: { n: move.n } });
  }
  return { actor, records, faults };
}

/** What holds of every actor after every record. */
function expectConsistent(before: Actor, { envelope, live: snapshot }: Actor): void {
  const { timers, parked, seq, at, generations } = envelope;
  expect(seq).toBe(before.envelope.seq + 1);
  expect(at).toBeGreaterThanOrEqual(before.envelope.at);
  const due = timers.map(({ dueAt }) => dueAt);
  expect(due).toEqual(due.toSorted((a, b) => a - b));
  const all = [...timers, ...parked.map(({ timer }) => timer)];
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { generation } of all) expect(generation).toBeLessThanOrEqual(generations);
  // A state's timer is there as long as its state is active, and once.
  const active = new Set(["", ...activePaths(snapshot)]);
  const ofStates = all.filter((timer) => timer.kind === "after");
  for (const { state } of ofStates) expect(active).toContain(state);
  const names = ofStates.map(({ state, delay }) => `${state} ${delay}`);
  expect(new Set(names).size).toBe(names.length);
}

test("an undisturbed life, one evicted before every step, and a replay of the log are the same", () => {
  let longest = 0;
  fc.assert(
    fc.property(machineConfig, moves, (config, plays) => {
      const plain = live(config as never, plays, false);
      const evicted = live(config as never, plays, true);
      if (plain === null || evicted === null) {
        expect(evicted).toBe(plain);
        return;
      }
      longest = Math.max(longest, plain.records.length);
      expect(canonicalJson(evicted.records as never)).toBe(canonicalJson(plain.records as never));
      expect(canonicalJson(evicted.actor.envelope as never)).toBe(
        canonicalJson(plain.actor.envelope as never),
      );
      expect(evicted.faults).toEqual(plain.faults);

      const stored = plain.records.map((record) => decodeRecord(record, encodeBody(record)));
      const replay = new Replay(ADDRESS, compileDefinition(config as never));
      expect(replay.run(stored)).toBeNull();
      expect(canonicalJson(replay.actor?.envelope as never)).toBe(
        canonicalJson(plain.actor.envelope as never),
      );
    }),
    { numRuns: 300 },
  );
  expect(longest).toBeGreaterThan(5);
}, 120_000);

test("a replay notices a log that was tampered with", () => {
  fc.assert(
    fc.property(machineConfig, moves, fc.nat(), (config, plays, pick) => {
      const plain = live(config as never, plays, false);
      if (plain === null) return;
      const index = pick % plain.records.length;
      const record = plain.records[index] as LogRecord;
      const other = { ...record, fingerprint: "0000000000000000" };
      const log = plain.records.with(index, other);
      expect(new Replay(ADDRESS, compileDefinition(config as never)).run(log)?.seq).toBe(
        record.seq,
      );
    }),
    { numRuns: 50 },
  );
});

test("what is handled changes something or says what it did; what is not handled changes nothing but the log", () => {
  const seen = { handled: 0, forbidden: 0, guard_false: 0, no_transition: 0 };
  fc.assert(
    fc.property(machineConfig, moves, (config, plays) => {
      const machine = compileDefinition(config as never);
      const born = beginActor(ADDRESS, machine, BIRTH, 1_000, NO_ORIGIN);
      if (!born.ok) return;
      let { actor } = born;
      for (const move of plays) {
        if (move.kind !== "event" || actor.envelope.status !== "active") continue;
        const input = { kind: "event" as const, type: move.type, payload: { n: move.n } };
        const outcome = advance(actor, input, 1_000, NO_ORIGIN);
        if (!outcome.ok) continue;
        const { record } = outcome;
        const before = actor.envelope;
        const after = outcome.actor.envelope;
        if (record.handled) {
          seen.handled += 1;
          expect(after.history.length).toBe(before.history.length + 1);
          expect(record.reason).toBeNull();
          expect(record.decisions?.transitions.length).toBeGreaterThan(0);
        } else {
          seen[record.reason as "forbidden" | "guard_false" | "no_transition"] += 1;
          expect({ ...after, seq: 0, at: 0 }).toEqual({ ...before, seq: 0, at: 0 });
          expect(record.emitted).toEqual([]);
        }
        expect(record.handled).toBe(selects(config, before.machine, input));
        actor = outcome.actor;
      }
    }),
    { numRuns: 300 },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
}, 120_000);

/** The definition of handled, asked of a plain XState machine: does a selected transition have a target or an action? */
function selects(
  config: unknown,
  state: Actor["envelope"]["machine"],
  event: { type: string; payload: { n: number } },
): boolean {
  const byPath = (path: string): { id: string } => ({ id: idAt(config as never, path) });
  const plain = createMachine(withFunctions(config) as never);
  const historyValue = Object.fromEntries(
    Object.entries(state.history).map(([path, targets]) => [byPath(path).id, targets.map(byPath)]),
  );
  const snapshot = createActor(plain, {
    snapshot: {
      status: state.status,
      value: state.value,
      context: state.context,
      historyValue,
      children: {},
    } as never,
  }).getSnapshot();
  const selected = plain.getTransitionData(
    snapshot as never,
    { type: event.type, ...event.payload } as never,
  );
  return selected.some(({ target, actions }) => target !== undefined || actions.length > 0);
}

function idAt(config: { id: string; states?: Record<string, never> }, path: string): string {
  let node = config;
  for (const key of path.split(".")) node = node.states![key]!;
  return node.id;
}

/** The few guards of the random machines, written as functions by hand; actions only need to be there. */
function withFunctions(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withFunctions);
  if (typeof node !== "object" || node === null) return node;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "guard") copy[key] = guardFunction(value as never);
    else if (key === "actions" || key === "entry") copy[key] = () => {};
    else copy[key] = withFunctions(value);
  }
  return copy;
}

interface PlainGuard {
  (args: { context: { n: number }; event: { n: number } }): boolean;
  check?: (snapshot: { _nodes: { id: string }[] }) => boolean;
}

function guardFunction(guard: { "@expr"?: string; params?: { stateId: string } }): PlainGuard {
  if (guard["@expr"] === "context.n > 2") return ({ context }) => context.n > 2;
  if (guard["@expr"] === "event.n % 2 == 0") return ({ event }) => event.n % 2 === 0;
  if (guard["@expr"] === "context.n == 3") return ({ context }) => context.n === 3;
  const stateIn: PlainGuard = () => false;
  stateIn.check = ({ _nodes }) => _nodes.some(({ id }) => `#${id}` === guard.params?.stateId);
  return stateIn;
}
