import * as fc from "fast-check";
import { expect, test } from "vitest";
import { outboxAfter } from "../../src/actor/outbox.ts";
import { canonicalJson } from "../../src/base/json.ts";
import { isFinished, wake } from "../../src/lifecycle/actor.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { decodeEnvelope, encodeEnvelope } from "../../src/lifecycle/envelope.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { decodeRecord, encodeBody } from "../../src/lifecycle/record.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import { retriable } from "../../src/lifecycle/retry.ts";
import type { Activity, LogRecord } from "../../src/lifecycle/types.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { ADDRESS } from "../support/lives.ts";
import { happenings, workingConfig } from "../support/working-machines.ts";
import type { Happening } from "../support/working-machines.ts";

const BIRTH = {
  uid: "f".repeat(32),
  definitionId: "m-v1",
  definitionHash: "h",
  parent: { id: "p", uid: "a".repeat(32), ref: "1:0", index: 0 },
};

interface Life {
  actor: Actor;
  records: LogRecord[];
}

/** Lives through what happens; with `evict`, from what is stored before each input. `look` sees each step. */
function live(
  config: never,
  happened: readonly Happening[],
  evict: boolean,
  look: (before: Actor | null, after: Actor, record: LogRecord) => void = () => {},
): Life | null {
  const machine = compileDefinition(config);
  const again = compileDefinition(config);
  const born = beginActor(ADDRESS, machine, BIRTH, 1_000, NO_ORIGIN);
  if (!born.ok) return null;
  let { actor } = born;
  const records = [born.record];
  look(null, actor, born.record);
  let now = 1_000;
  const take = (input: Input): void => {
    const from = evict ? wake(decodeEnvelope(encodeEnvelope(actor.envelope)), again) : actor;
    const outcome = advance(from, input, now, NO_ORIGIN);
    if (!outcome.ok) return;
    look(actor, outcome.actor, outcome.record);
    actor = outcome.actor;
    records.push(outcome.record);
  };
  const fireDue = (): void => {
    for (let fired = 0; fired < 20; fired += 1) {
      const [timer] = actor.envelope.timers;
      if (!timer || timer.dueAt > now || actor.envelope.status !== "active") return;
      take({ kind: "timer", timerId: timer.id });
    }
  };
  for (const happening of happened) {
    if (happening.kind === "advance") now += happening.ms;
    fireDue();
    const input = inputOf(happening, actor, records);
    if (input !== null) take(input);
    fireDue();
  }
  return { actor, records };
}

function picked<T>(items: readonly T[], pick: number): T | null {
  return items.length === 0 ? null : (items[pick % items.length] as T);
}

const ERROR = { code: "http_status", message: "No.", attempts: 2 };
const NOTE = { attempt: 1, at: 5, code: "network", message: "No answer." };

/** The input that a happening is by now; null where there is none. */
function inputOf(happening: Happening, { envelope }: Actor, records: LogRecord[]): Input | null {
  const { status, activities } = envelope;
  // What outlives an actor is late news.
  if (isFinished(envelope) && happening.kind !== "late") return null;
  const running = activities.filter((one) => one.status === "running");
  switch (happening.kind) {
    case "event": {
      const { kind, type, n } = happening;
      return status === "active" ? { kind, type, payload: { n } } : null;
    }
    case "message": {
      const { kind, type, n } = happening;
      return status === "active" ? { kind, type, payload: n === null ? null : { n } } : null;
    }
    case "done":
    case "failed": {
      const worked = running.filter(({ src }) => src !== "actor" && src !== "compensate");
      const activity = picked(worked, happening.pick);
      if (activity === null || status === "paused") return null;
      const { ref } = activity;
      if (happening.kind === "failed") return { kind: "activity_failed", ref, error: ERROR };
      const errors = happening.n === 0 ? {} : { errors: [NOTE] };
      return { kind: "activity_done", ref, output: { n: happening.n }, attempts: 2, ...errors };
    }
    case "child": {
      const parent = picked(
        running.filter(({ children = [] }) => children.length > 0),
        happening.pick,
      );
      if (parent === null || status === "paused") return null;
      const { ref } = parent;
      const index = happening.pick % (parent.children as unknown[]).length;
      if (happening.n === 0) return { kind: "child_failed", ref, index, error: ERROR };
      return { kind: "child_done", ref, index, output: { n: happening.n } };
    }
    case "late": {
      const refs = records.flatMap(({ effects }) => effects.map(({ ref }) => ref));
      const open = new Set(activities.map(({ ref }) => ref));
      const ref = picked(
        refs.filter((one) => !open.has(one)),
        happening.pick,
      );
      return ref === null ? null : { kind: "activity_done", ref, output: null, attempts: 1 };
    }
    case "task": {
      const task = picked(
        running.filter((one) => one.task !== undefined),
        happening.pick,
      );
      if (task === null) return null;
      const more = happening.ms === null ? {} : { expiresAt: envelope.at + happening.ms };
      const from = task.task?.assignee ?? null;
      return { kind: "task_changed", ref: task.ref, assignee: "eve", from, ...more };
    }
    case "undelivered": {
      const event = { type: "HELLO" };
      const error = { code: "actor_not_found", message: "Gone." };
      return { kind: "undelivered", ref: `1:${100 + happening.pick}`, to: "b", event, ...error };
    }
    case "retry": {
      const all = retriable(envelope, null);
      const items = happening.pick === null ? all : [picked(all, happening.pick) ?? ""];
      return status === "active" && all.length > 0 ? { kind: "retried", items } : null;
    }
    case "pause":
      return { kind: status === "paused" ? "resumed" : "paused", reason: null };
    case "terminate":
      return envelope.seq % 5 === 0 ? { kind: "terminated", reason: null } : null;
    case "advance":
      return null;
  }
}

/** What random lives have to be about. */
const HAPPENED = [
  "activity_done",
  "activity_done late",
  "activity_failed",
  "reminder",
  "escalated",
  "retried",
  "undelivered",
];

test("whatever happens in whatever order: evicted before every step, and replayed from the log, it is the same life", () => {
  const seen = new Set<string>();
  const lives = fc.property(workingConfig, happenings, (config, happened) => {
    const plain = live(config as never, happened, false);
    const evicted = live(config as never, happened, true);
    if (plain === null || evicted === null) {
      expect(evicted).toBe(plain);
      return;
    }
    expect(canonicalJson(evicted.records as never)).toBe(canonicalJson(plain.records as never));
    expect(canonicalJson(evicted.actor.envelope as never)).toBe(
      canonicalJson(plain.actor.envelope as never),
    );
    const stored = plain.records.map((record) => decodeRecord(record, encodeBody(record)));
    const replay = new Replay(ADDRESS, compileDefinition(config as never));
    expect(replay.run(stored)).toBeNull();
    expect(canonicalJson(replay.actor?.envelope as never)).toBe(
      canonicalJson(plain.actor.envelope as never),
    );
    const tried = new Replay(ADDRESS, compileDefinition(config as never), { onOther: true });
    expect(tried.run(stored)).toBeNull();
    for (const { kind, reason } of plain.records) seen.add(`${kind} ${reason ?? ""}`.trim());
  });
  // The random lives are worth their name; where chance leaves something out, there are more of them.
  for (let round = 0; round < 10 && !HAPPENED.every((one) => seen.has(one)); round += 1) {
    fc.assert(lives, { numRuns: 60 });
  }
  expect([...seen]).toEqual(expect.arrayContaining(HAPPENED));
}, 240_000);

test("each activity ends at most once, and only once it began; all that there is of it goes with it", () => {
  const ends = { completed: 0, failed: 0, cancelled: 0 };
  fc.assert(
    fc.property(workingConfig, happenings, (config, happened) => {
      const ended = new Set<string>();
      const begun = new Set<string>();
      live(config as never, happened, false, (before, { envelope }, record) => {
        const was = before?.envelope.activities ?? [];
        const is = new Map(envelope.activities.map((one) => [one.ref, one]));
        expect(is.size).toBe(envelope.activities.length);
        for (const { ref } of envelope.activities) {
          if (was.some((one) => one.ref === ref)) continue;
          expect(ref).toMatch(new RegExp(`^${record.seq}:`));
          expect(begun.has(ref)).toBe(false);
          begun.add(ref);
        }
        const now = envelope.ended.filter(({ seq }) => seq === record.seq);
        for (const { ref, status } of now) {
          expect(begun.has(ref)).toBe(true);
          expect(ended.has(ref)).toBe(false);
          expect(is.has(ref)).toBe(false);
          ended.add(ref);
          ends[status] += 1;
        }
        // Of more than are shown, the first ones are not among those that ended.
        if (now.length < 10) {
          for (const { ref } of was) expect(is.has(ref) || ended.has(ref)).toBe(true);
        }
        expectEffects(is, record);
        expectWhole(envelope.activities, { envelope } as Actor);
      });
    }),
    { numRuns: 60 },
  );
  for (const [status, count] of Object.entries(ends)) expect(count, status).toBeGreaterThan(0);
}, 240_000);

/** What a record asks for is about what there is after it. */
function expectEffects(is: ReadonlyMap<string, Activity>, { kind, seq, effects }: LogRecord): void {
  const refs = effects.filter((effect) => effect.kind !== "cancel").map(({ ref }) => ref);
  expect(new Set(refs).size).toBe(refs.length);
  for (const effect of effects) {
    if (effect.kind === "start") expect(is.get(effect.ref)?.status).toBe("running");
    if (effect.kind === "cancel") expect(is.get(effect.ref)?.status).not.toBe("running");
    const renewed = effect.kind === "cancel" || effect.kind === "update" || kind === "retried";
    if (!renewed) expect(effect.ref).toMatch(new RegExp(`^${seq}:`));
  }
}

/** What holds of the activities of an actor. */
function expectWhole(activities: readonly Activity[], { envelope }: Actor): void {
  const { timers, parked, undo } = envelope;
  const by = new Map(activities.map((one) => [one.ref, one]));
  for (const timer of timers) {
    if (timer.kind === "activity") expect(by.get(timer.activity)?.status).toBe("running");
    if (timer.kind === "result") expect(by.get(timer.activity)?.status).toBe("parked");
  }
  for (const { timer } of parked) {
    if (timer.kind === "result") expect(by.get(timer.activity)?.status).toBe("parked");
  }
  if (isFinished(envelope)) expect(activities).toEqual([]);
  const waits = (ref: string) =>
    timers.some(
      (timer) => timer.kind === "activity" && timer.activity === ref && timer.what === "end",
    );
  for (const { ref, src, status, children, undoes, compensates } of activities) {
    if (undoes !== undefined) {
      expect(undo.some((one) => one.ref === undoes)).toBe(true);
      if (compensates) expect(by.get(compensates)?.status).toBe("running");
    }
    if (status !== "running") continue;
    // Somebody will end each of them.
    const steps = activities.filter((one) => one.compensates === ref).length;
    if (src === "compensate") expect(steps + (waits(ref) ? 1 : 0)).toBe(1);
    if (src === "actor") {
      expect(waits(ref) || children?.some(({ outcome }) => outcome === null)).toBe(true);
    }
  }
}

test("what is left to do outside is about activities that run, but for children that were let go", () => {
  fc.assert(
    fc.property(workingConfig, happenings, (config, happened) => {
      let outbox: ReturnType<typeof outboxAfter> = [];
      live(config as never, happened, false, (_, { envelope }, record) => {
        outbox = outboxAfter(outbox, [record]);
        for (const { effect } of outbox) {
          if (effect.kind !== "start") continue;
          const running = envelope.activities.some(
            ({ ref, status }) => ref === effect.ref && status === "running",
          );
          expect(running || detached(effect.input)).toBe(true);
        }
      });
    }),
    { numRuns: 80 },
  );
}, 120_000);

function detached(input: unknown): boolean {
  return (input as { detach?: boolean } | null)?.detach === true;
}
