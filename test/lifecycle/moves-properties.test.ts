import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { isFinished } from "../../src/lifecycle/actor.ts";
import type { ActivityNotes } from "../../src/lifecycle/carry-activities.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { moveBy } from "../../src/lifecycle/move.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import { rescue } from "../../src/lifecycle/rescue.ts";
import { whyNoRollback } from "../../src/lifecycle/roll-back.ts";
import type { Envelope, LogRecord } from "../../src/lifecycle/types.ts";
import { invokeOf } from "../../src/machine/activity-events.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { pathOf } from "../../src/machine/engine-types.ts";
import { activeNodes } from "../../src/machine/landing.ts";
import type { Live } from "../../src/machine/live.ts";
import { invoking } from "../support/invoking.ts";
import { machineConfig, moves as plays } from "../support/machines.ts";
import type { Move as Play } from "../support/machines.ts";
import { ADDRESS, Life } from "../support/lives.ts";

type Act =
  | Play
  | { kind: "move"; to: number; landing: "same" | "start"; entered: number; note: boolean }
  | { kind: "roll_back" }
  | { kind: "rescue"; to: number | null; here: boolean; context: boolean }
  | { kind: "refuse"; strand: boolean }
  | { kind: "result"; nth: number; fails: boolean }
  | { kind: "paused" | "resumed" };

const VERSIONS = 4;

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: plays.filter(({ length }) => length > 0).map(([first]) => first!) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      to: fc.integer({ min: 1, max: VERSIONS }),
      landing: fc.constantFrom("same" as const, "start" as const),
      entered: fc.constantFrom(0, 500, 5_000),
      note: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "roll_back" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("result" as const),
      nth: fc.nat(5),
      fails: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("rescue" as const),
      to: fc.option(fc.integer({ min: 1, max: VERSIONS })),
      here: fc.boolean(),
      context: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("refuse" as const), strand: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ kind: "paused" } as const, { kind: "resumed" } as const),
  },
);

/** Versions of one family: some are the first again but for their activities, so that states stay where they are. */
const family = fc
  .tuple(
    machineConfig,
    fc.array(fc.option(machineConfig), { minLength: 3, maxLength: 3 }),
    fc.integer(),
  )
  .map(([first, others, seed]) =>
    [first, ...others.map((other) => other ?? first)].map((one, n) => invoking(one, seed + n)),
  );

function leaves(live: Live): string[] {
  return live._nodes.filter(({ states }) => Object.keys(states).length === 0).map(pathOf);
}

/** Where a version begins, as far as that is a place to live. */
function beginning(machine: CompiledMachine): Live | null {
  const birth = { uid: "0".repeat(32), definitionId: "m", definitionHash: "h" };
  const born = beginActor(ADDRESS, machine, birth, 0, NO_ORIGIN);
  return born.ok && born.actor.envelope.status === "active" ? born.actor.live : null;
}

/** What a rollback restores. */
function restored(envelope: Envelope): string {
  const { seq: _s, at: _a, moves: _m, generations: _g, ...rest } = envelope;
  return canonicalJson(rest as never);
}

test("whatever moves an actor, its log lived again gives the same snapshot, from birth and from everywhere", () => {
  const moves = { moved: 0, unmappable: 0, rolled_back: 0, rescued: 0, refused: 0, chained: 0 };
  const seen = { ...moves, kept: 0, cancelled: 0, started: 0, results: 0 };
  fc.assert(
    fc.property(family, fc.array(act, { maxLength: 15 }), fc.nat(), (configs, acts, where) => {
      const life = lifeOf(configs);
      if (life === null) return;
      const stops = [life.actor];
      for (const one of acts) {
        live(life, one, seen);
        stops.push(life.actor);
        expectHeld(life);
      }
      life.checkReplay();
      expectEndedOnce(life);
      const from = stops[where % stops.length]!;
      const replay = new Replay(ADDRESS, life.machineOf("hash-v1"), {
        from,
        machineOf: life.machineOf,
        recordAt: (seq) => life.log[seq - 1] as LogRecord,
      });
      expect(replay.run(life.log.slice(from.envelope.seq))).toBeNull();
      expect(canonicalJson(replay.actor?.envelope as never)).toBe(
        canonicalJson(life.envelope as never),
      );
    }),
    // Few acts are rolled back; with half as many runs the count below was once too small.
    { numRuns: 600 },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(5);
}, 300_000);

/** Every activity of a state is one that its state has, in the version where the actor is. */
function expectHeld({ envelope, actor }: Life): void {
  const active = [...activeNodes(actor.machine, envelope.machine.value)].map(pathOf);
  for (const activity of envelope.activities) {
    expect(active).toContain(activity.state);
    expect(invokeOf(actor.machine, activity)?.src).toBe(activity.src);
  }
}

/** What was started runs, or was cancelled, or had its result: one of them. */
function expectEndedOnce({ envelope, log }: Life): void {
  const ends = envelope.activities.flatMap(({ status, ref }) =>
    status === "running" ? [ref] : [],
  );
  const starts: string[] = [];
  for (const { kind, payload, reason, effects } of log) {
    if (kind.startsWith("activity_") && reason !== "late") ends.push(payload?.["ref"] as string);
    for (const { kind: what, ref } of effects) (what === "start" ? starts : ends).push(ref);
  }
  expect(ends.toSorted()).toEqual(starts.toSorted());
  expect(new Set(starts).size).toBe(starts.length);
}

function lifeOf(configs: JsonObject[]): Life | null {
  let life: Life;
  try {
    life = new Life(configs[0]!);
  } catch {
    // A machine that does not rest.
    return null;
  }
  configs.forEach((config, index) => index > 0 && life.version(index + 1, config));
  return life;
}

function live(life: Life, one: Act, seen: Record<string, number>): void {
  const { status } = life.envelope;
  if (isFinished(life.envelope)) return;
  switch (one.kind) {
    case "event":
      if (status === "active") give(life, { kind: "event", type: one.type, payload: { n: one.n } });
      return;
    case "advance": {
      life.at += one.ms;
      // Some machines fire at once again.
      for (let fired = 0; fired < 5; fired += 1) {
        const [timer] = life.envelope.timers;
        const due = timer !== undefined && timer.dueAt <= life.at;
        if (!due || life.envelope.status !== "active") return;
        give(life, { kind: "timer", timerId: timer.id });
      }
      return;
    }
    case "paused":
    case "resumed":
      if (status === "stranded" || (status === "active") === (one.kind === "resumed")) return;
      give(life, { kind: one.kind, reason: null });
      return;
    case "result": {
      const running = life.envelope.activities.filter((activity) => activity.status === "running");
      const activity = running[one.nth % running.length];
      if (activity === undefined || status !== "active") return;
      const { ref } = activity;
      const error = { code: "failed", message: "No.", attempts: 2 };
      if (one.fails) give(life, { kind: "activity_failed", ref, error });
      else give(life, { kind: "activity_done", ref, output: 1, attempts: 1 });
      seen["results"]! += 1;
      return;
    }
    case "refuse":
      if (life.refuse(9, one.strand)) seen["refused"]! += 1;
      return;
    case "roll_back": {
      const { seq } = life.envelope.entered;
      const moved = life.log[seq - 1];
      const before = moved?.result?.["before"];
      if (life.rollBack() !== null) return;
      const { refs, machine, timers, entered } = life.envelope;
      expect(before).toMatchObject({ refs, machine, timers, entered });
      seen["rolled_back"]! += 1;
      return;
    }
    case "rescue":
      return rescueIt(life, one, seen);
    case "move":
      return moveIt(life, one, seen);
  }
}

function give(life: Life, input: Input): void {
  const outcome = advance(life.actor, input, life.at, NO_ORIGIN);
  if (outcome.ok) life.taken(outcome);
}

function rescueIt(
  life: Life,
  { to, here, context }: Extract<Act, { kind: "rescue" }>,
  seen: Record<string, number>,
): void {
  const machine = to === null ? life.actor.machine : life.machineOf(`hash-v${to}`);
  const start = beginning(machine);
  const outcome = rescue(
    life.actor,
    {
      to: to === null ? null : { id: `m-v${to}`, hash: `hash-v${to}`, machine },
      ...(here || start === null ? {} : { stateValue: start.value as never }),
      ...(context ? { context: { n: 2, seen: [] } } : {}),
      reason: "by hand",
    },
    life.at,
    NO_ORIGIN,
  );
  if ("problems" in outcome || !outcome.ok) return;
  life.taken(outcome);
  seen["rescued"]! += 1;
}

function moveIt(
  life: Life,
  { to, landing, entered, note }: Extract<Act, { kind: "move" }>,
  seen: Record<string, number>,
): void {
  const target = life.machineOf(`hash-v${to}`);
  const start = beginning(target);
  const places = start === null ? [] : leaves(start);
  const before = life.envelope;
  const move = life.moveTo(to, {
    ruleId: `r_${before.seq}`,
    stateMapping:
      landing === "same"
        ? {}
        : Object.fromEntries(leaves(life.actor.live).map((leaf) => [leaf, places])),
    contextMapping: note
      ? { "moved.at": { "@expr": "now" }, "moved.dice": { "@expr": "random()" } }
      : {},
    entered: Object.fromEntries([...target.nodes.keys()].map((path) => [path, life.at - entered])),
  });
  const outcome = moveBy(life.actor, move, target, life.at);
  if (!outcome.ok) {
    expect(life.envelope).toBe(before);
    seen["unmappable"]! += 1;
    return;
  }
  if (before.entered.seq > 1) seen["chained"]! += 1;
  life.taken(outcome);
  seen["moved"]! += 1;
  const after = life.envelope;
  expect(after.history).toEqual(before.history);
  expect(after.moves.at(-1)).toMatchObject({ ruleId: move.ruleId, outcome: "migrated" });
  // Nothing is lost on the way: what a caller scheduled and a machine raised is there, due when it was.
  if (isFinished(after)) return;
  if (outcome.record.decisions?.transitions.length === 0) {
    const others = ({ timers }: Envelope) => timers.filter(({ kind }) => kind !== "after");
    expect(others(after)).toEqual(others(before));
  }
  // Taking it back gives what was there, to the last byte.
  const moved = life.log.at(-1) as LogRecord;
  const { activities } = (moved.result ?? {}) as { activities?: ActivityNotes };
  for (const fate of ["kept", "cancelled", "started"] as const) {
    seen[fate]! += activities?.[fate].length ?? 0;
  }
  if (whyNoRollback(moved, []) !== null) return;
  const undone = advance(
    life.actor,
    { kind: "rolled_back", moved, machine: life.machineOf(before.definitionHash), reason: null },
    life.at,
    NO_ORIGIN,
  );
  expect(undone.ok && restored(undone.actor.envelope)).toBe(restored(before));
}
