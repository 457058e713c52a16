import type { Outcome } from "../activities/types.ts";
import { LIMITS } from "../base/limits.ts";
import { bytesOver } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { afterKey } from "../machine/compile.ts";
import type { Fault } from "../machine/evaluation.ts";
import type { Command, EventData } from "../machine/types.ts";
import type { Envelope, Timer } from "./types.ts";

/** The part of an envelope that timers live in. */
export type TimerSet = Pick<Envelope, "timers" | "generations" | "parked">;
type TimerCommand =
  | Extract<Command, { kind: "arm_after" | "arm_raise" | "cancel_after" | "cancel_raise" }>
  | (Omit<Extract<Command, { kind: "send_to" }>, "delayMs"> & { delayMs: number });
type UnarmedTimer = Unarmed<Timer>;
type Unarmed<T> = T extends Timer ? Omit<T, "id" | "generation" | "armedAt"> : never;

/**
 * Carries out what a step wants done to timers. A timer that is armed anew, by the same state and delay
 * or with the same send id, takes the place of the old one under a new generation. Parked ones too: to
 * retry a timer of a state that was left would move the machine for a reason that is gone.
 */
export function applyTimerCommand(set: TimerSet, command: TimerCommand, at: number): TimerSet {
  switch (command.kind) {
    case "cancel_after":
      return without(set, (timer) => isAfter(timer, command.state, command.delay));
    case "cancel_raise":
      return without(set, (timer) => isSent(timer, command.sendId));
    case "arm_after": {
      const { state, delay } = command;
      const rest = without(set, (timer) => isAfter(timer, state, delay));
      return arm(rest, { kind: "after", state, delay, dueAt: at + command.delayMs }, at);
    }
    case "arm_raise": {
      const { event, sendId } = command;
      const rest = sendId === null ? set : without(set, (timer) => isSent(timer, sendId));
      return arm(rest, { kind: "raise", event, sendId, dueAt: at + command.delayMs }, at);
    }
    case "send_to": {
      const { to, event, sendId } = command;
      const rest = sendId === null ? set : without(set, (timer) => isSent(timer, sendId));
      return arm(rest, { kind: "send", to, event, sendId, dueAt: at + command.delayMs }, at);
    }
  }
}

export function arm(set: TimerSet, timer: UnarmedTimer, at: number): TimerSet {
  const next = armed(set, timer, at);
  const timers = inOrder([...set.timers, next]);
  return { timers, generations: next.generation, parked: set.parked };
}

/** A timer of the next generation, not yet among those of the set. */
export function armed(
  { generations }: Pick<TimerSet, "generations">,
  timer: UnarmedTimer,
  at: number,
): Timer {
  const generation = generations + 1;
  return { id: `t${generation}`, generation, armedAt: at, ...timer };
}

/** By due time, then generation: the order in which they fire. */
export function inOrder(timers: readonly Timer[]): readonly Timer[] {
  return timers.toSorted((a, b) => a.dueAt - b.dueAt || a.generation - b.generation);
}

/** Whether what is due happens. One that has ended has timers only of what it still undoes. */
export function firesTimers({ status }: Pick<Envelope, "status">): boolean {
  return status !== "paused" && status !== "stranded";
}

/** The timer that fires next, or null. */
export function nextTimer(envelope: Envelope): Timer | null {
  return firesTimers(envelope) ? (envelope.timers[0] ?? null) : null;
}

/** An actor's clock: the server's, moved by the development clock, never behind its last record. */
export function actorTime(
  { clockOffsetMs, at }: Pick<Envelope, "clockOffsetMs" | "at">,
  serverTime: number,
): number {
  return Math.max(serverTime + clockOffsetMs, at);
}

/** When the object must be woken by the server's clock, or null. While it is held back, due times are only kept. */
export function alarmTime(envelope: Envelope): number | null {
  const timer = nextTimer(envelope);
  return timer && timer.dueAt - envelope.clockOffsetMs;
}

/** Null, or why an actor cannot hold so many timers. */
export function tooManyTimers({ timers, parked }: TimerSet): Fault | null {
  const count = timers.length + parked.length;
  if (count <= LIMITS.timersPerActor) return null;
  return {
    code: "limit_exceeded",
    limit: "timersPerActor",
    message: `The actor would have ${count} timers; the limit timersPerActor is ${LIMITS.timersPerActor}.`,
  };
}

/** Null, or why an actor cannot hold these timers. */
export function timerFault(set: TimerSet): Fault | null {
  const fault = tooManyTimers(set);
  if (fault) return fault;
  const bytes = bytesOver(LIMITS.timerBytes, JSON.stringify([...set.timers, ...set.parked]));
  if (bytes <= LIMITS.timerBytes) return null;
  return {
    code: "limit_exceeded",
    limit: "timerBytes",
    message: `The actor's timers would have ${bytes} bytes of JSON; the limit timerBytes is ${LIMITS.timerBytes}.`,
  };
}

/** The event that a firing timer gives to the machine. A delayed transition's name is derived here, so renames survive. */
export function timerEvent(timer: Timer, machine: CompiledMachine): EventData {
  if (timer.kind !== "after") return "event" in timer ? timer.event : { type: timerName(timer) };
  const type = machine.eventByAfter.get(afterKey(timer.state, timer.delay));
  return { type: type ?? `xstate.after.${timer.delay}.${timer.state}` };
}

/** How a timer is named in records, lists and history patterns. */
export function timerName(timer: Timer): string {
  switch (timer.kind) {
    case "after":
      return `@timer:${timer.state}:${timer.delay}`;
    case "activity":
      return `@${timer.what}:${timer.invoke}`;
    case "result":
      return resultName(timer.invoke, timer.outcome);
    default:
      return timer.event.type;
  }
}

/** How an activity's result is named there, by the activity's own name. */
export function resultName(id: string, outcome: Outcome): string {
  return `@${"output" in outcome ? "done" : "error"}:${id}`;
}

function without(set: TimerSet, matches: (timer: Timer) => boolean): TimerSet {
  const timers = set.timers.filter((timer) => !matches(timer));
  const parked = set.parked.filter(({ timer }) => !matches(timer));
  return {
    generations: set.generations,
    timers: timers.length === set.timers.length ? set.timers : timers,
    parked: parked.length === set.parked.length ? set.parked : parked,
  };
}

/** Delayed events of the machine, to itself and to others, share their send ids. */
function isSent(timer: Timer, sendId: string): boolean {
  return (timer.kind === "raise" || timer.kind === "send") && timer.sendId === sendId;
}

function isAfter(timer: Timer, state: string, delay: string): boolean {
  return timer.kind === "after" && timer.state === state && timer.delay === delay;
}
