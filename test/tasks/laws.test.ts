import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { silence } from "../support/silence.ts";
import { inTaskWorld } from "../support/task-world.ts";
import type { Lease, TaskWorld } from "../support/task-world.ts";
import { queueName } from "../support/tasks.ts";

const LEASE_MS = 1_000;
const PAUSE_MS = 100;
const UNCLAIMED_MS = 200_000;
const ATTEMPTS = 3;

type Move =
  | { kind: "add" | "ring" | "age" | "wake" | "away" | "mute" | "back" }
  | { kind: "claim"; max: number }
  | { kind: "complete" | "beat"; lease: number; output: number }
  | { kind: "fail"; lease: number; retryable: boolean }
  | { kind: "cancel"; task: number; told: boolean }
  | { kind: "advance"; ms: number };

const lease = fc.nat(50);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Move>({ kind: "add" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("claim" as const),
      max: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("complete" as const, "beat" as const),
      lease,
      output: fc.nat(1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fail" as const), lease, retryable: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("cancel" as const),
      task: fc.nat(20),
      told: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.constantFrom(1, PAUSE_MS, LEASE_MS - 1, LEASE_MS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Move>(
      { kind: "ring" },
      { kind: "age" },
      { kind: "wake" },
      { kind: "away" },
      { kind: "mute" },
      { kind: "back" },
    ),
  },
);

/** What a task is, as far as its callers can know. */
interface Known {
  /** The lease that counts, and until when. */
  held: (Lease & { until: number }) | null;
  attempts: number;
  /** Since when it can be claimed. */
  readyAt: number;
  /** No result can be brought any more: it has one, maybe on its way. */
  over: boolean;
  /** Its actor has left it, and the queue may not know. */
  left: boolean;
}

/** The queue as it should be: small enough to be seen to be right. */
class Model {
  readonly tasks: Known[] = [];
  readonly leases: Lease[] = [];

  /** A lease that ended unheard is lost from that moment on, whoever notices when. */
  lapse(): void {
    const now = Date.now();
    for (const task of this.tasks) {
      if (task.over) continue;
      if (task.held === null) task.over = task.readyAt + UNCLAIMED_MS <= now;
      else if (task.held.until <= now) this.#failed(task, true, now);
    }
  }

  #failed(task: Known, retryable: boolean, at: number): void {
    task.held = null;
    if (retryable && task.attempts < ATTEMPTS) task.readyAt = at + PAUSE_MS;
    else task.over = true;
  }

  fail(task: Known, retryable: boolean): void {
    this.#failed(task, retryable, Date.now());
  }

  isHeldBy(one: Lease): boolean {
    const task = this.tasks[one.task];
    return task !== undefined && !task.over && task.held?.token === one.token;
  }
}

async function play(world: TaskWorld, model: Model, one: Move): Promise<void> {
  model.lapse();
  switch (one.kind) {
    case "add":
      await world.add(model.tasks.length, ATTEMPTS);
      model.tasks.push({ held: null, attempts: 0, readyAt: Date.now(), over: false, left: false });
      return;
    case "claim": {
      for (const got of world.claim(one.max)) {
        const task = model.tasks[got.task] as Known;
        // Nobody else has it, and it is its turn.
        expect(task).toMatchObject({ held: null, over: false });
        expect(got.attempt).toBe((task.attempts += 1));
        expect(task.attempts).toBeLessThanOrEqual(ATTEMPTS);
        task.held = { ...got, until: Date.now() + LEASE_MS };
        model.leases.push(got);
      }
      return;
    }
    case "complete": {
      const got = model.leases[one.lease % Math.max(model.leases.length, 1)];
      if (got === undefined) return;
      const task = model.tasks[got.task] as Known;
      const live = model.isHeldBy(got);
      const before = world.taken.get(got.task) ?? 0;
      const reply = await world.complete(got, one.output);
      if (live) {
        task.over = true;
        if (!world.reachable || world.mute)
          return expect(reply).toMatchObject({ failure: { code: "unavailable" } });
        if (task.left) return expect(reply).toMatchObject({ failure: { code: "task_closed" } });
        expect(reply.ok).toBe(true);
        expect(world.endings.get(got.task)).toEqual({ outcome: { output: one.output } });
      } else {
        // An old lease changes nothing; it hears what became of the task, or that it has lost it.
        const after = world.taken.get(got.task) ?? 0;
        const owed = task.over && before === 0;
        if (!owed) expect(after).toBe(before);
        const said = reply.ok ? "ok" : reply.failure.code;
        expect(task.over ? ["ok", "task_closed", "unavailable"] : ["lease_lost"]).toContain(said);
        if (reply.ok)
          expect(world.endings.get(got.task)).toEqual({ outcome: { output: one.output } });
      }
      return;
    }
    case "beat": {
      const got = model.leases[one.lease % Math.max(model.leases.length, 1)];
      if (got === undefined) return;
      const live = model.isHeldBy(got);
      const reply = world.heartbeat(got);
      const task = model.tasks[got.task] as Known;
      if (live && task.held !== null) task.held.until = Date.now() + LEASE_MS;
      // While a result is on its way its lease lasts.
      if (!task.over) expect(reply.ok).toBe(live);
      return;
    }
    case "fail": {
      const got = model.leases[one.lease % Math.max(model.leases.length, 1)];
      if (got === undefined) return;
      const task = model.tasks[got.task] as Known;
      const live = model.isHeldBy(got);
      const reply = await world.fail(got, one.retryable);
      if (!live) {
        if (!task.over) expect(reply).toMatchObject({ failure: { code: "lease_lost" } });
        return;
      }
      model.fail(task, one.retryable);
      if (!task.over || (world.reachable && !world.mute && !task.left)) expect(reply.ok).toBe(true);
      return;
    }
    case "cancel": {
      const task = model.tasks[one.task];
      // An actor that has the result has nothing to take back.
      if (task === undefined || (world.taken.get(one.task) ?? 0) > 0) return;
      await world.cancel(one.task, one.told);
      task.left = true;
      if (one.told) task.over = true;
      return;
    }
    case "advance":
      world.advance(one.ms);
      return;
    case "ring":
      return world.ring();
    case "age":
      // So long that it does not matter when a lease's end was noticed.
      await world.ring();
      world.advance(2 * UNCLAIMED_MS);
      return world.ring();
    case "wake":
      await world.settled();
      return world.wake();
    case "away":
      world.reachable = false;
      return;
    case "mute":
      world.mute = true;
      return;
    case "back":
      Object.assign(world, { reachable: true, mute: false });
  }
}

/** Workers do all that is left, however long that takes. */
async function finish(world: TaskWorld, model: Model): Promise<void> {
  Object.assign(world, { reachable: true, mute: false });
  // What was told to the mute is over, and is told anew.
  await world.settled();
  for (const [task, { left }] of model.tasks.entries()) if (left) await world.cancel(task, true);
  for (let round = 0; world.endings.size < model.tasks.length && round < 20; round += 1) {
    world.advance(60 * LEASE_MS);
    await world.ring();
    for (const got of world.claim(50)) expect((await world.complete(got, 7)).ok).toBe(true);
  }
}

function statusOf({ endings }: TaskWorld, task: number): string {
  const outcome = endings.get(task)?.outcome ?? "cancelled";
  if (outcome === "cancelled") return outcome;
  if ("output" in outcome) return "done";
  return outcome.error.code === "expired" ? "expired" : "failed";
}

test("whatever is claimed, lost, failed and completed in whatever order: one result of each task, and none is lost", async () => {
  silence();
  const moves = fc.array(move, { minLength: 5, maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(moves, async (list) => {
      await inTaskWorld(queueName(), async (world) => {
        const model = new Model();
        for (const one of list) await play(world, model, one);
        await finish(world, model);
        for (const [task] of model.tasks.entries()) {
          expect(world.endings.has(task), `task ${task}`).toBe(true);
          expect(world.taken.get(task) ?? 0).toBeLessThanOrEqual(1);
        }
        // The queue knows it too, at the latest when its actors were told once more.
        world.advance(LIMITS.tellAgainMostMs + LIMITS.tellingMs);
        await world.ring();
        for (const [task] of model.tasks.entries()) {
          expect(world.statusOf(task)).toBe(statusOf(world, task));
        }
      });
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
