import { LIMITS } from "../base/limits.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { NotHandled, StateValue } from "../machine/types.ts";
import { activePaths } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import { advance } from "./advance.ts";
import { beginActor } from "./birth.ts";
import { NO_ORIGIN } from "./input.ts";
import type { Input } from "./input.ts";
import type { LogRecord } from "./types.ts";

/** What happens to an actor in a play: events, time, and what comes of its activities, which nobody carries out. */
export type PlayEvent = string | { type: string; payload?: JsonObject | undefined } | Passed | Came;

interface Passed {
  advanceMs: number;
}

/** The result of the activity of this invoke, as its source would give it. */
type Came =
  | { done: string; output?: JsonValue | undefined }
  | { failed: string; error?: PlayedError | undefined };

interface PlayedError {
  code?: string | undefined;
  message?: string | undefined;
  attempts?: number | undefined;
  status?: number | undefined;
  body?: JsonValue | undefined;
}

/** How the machine took what it was given: whether it had a handler, null for time that passes, and why it had none. */
export interface Taken {
  handled: boolean | null;
  reason?: NotHandled;
}

/** An actor without a home: the same functions as a real one, and a clock that moves when it is told. */
export class Play {
  readonly #machine: CompiledMachine;
  #actor: Actor | null = null;
  #now = Date.UTC(2000, 0, 1);
  #lastTaken: Taken = { handled: null };

  constructor(machine: CompiledMachine) {
    this.#machine = machine;
  }

  get done(): boolean {
    return this.#actor?.envelope.status === "done";
  }

  get stateValue(): StateValue {
    return this.#present.envelope.machine.value;
  }

  get lastTaken(): Taken {
    return this.#lastTaken;
  }

  get #present(): Actor {
    return this.#actor as Actor;
  }

  /** Null, or what went wrong; likewise below. */
  begin(input: JsonValue | undefined, context: JsonObject | undefined): string | null {
    const birth = {
      uid: "0".repeat(32),
      definitionId: this.#machine.family,
      definitionHash: "",
      ...(input === undefined ? {} : { input }),
      ...(context === undefined ? {} : { context }),
    };
    const address = { tenant: "scenario", id: "scenario" };
    const born = beginActor(address, this.#machine, birth, this.#now, NO_ORIGIN);
    if (!born.ok) return born.fault.message;
    this.#actor = born.actor;
    return this.#fireDue();
  }

  take(event: PlayEvent): string | null {
    if (typeof event === "object" && "advanceMs" in event) {
      this.#lastTaken = { handled: null };
      const until = this.#now + event.advanceMs;
      const error = this.#fireDue(until);
      this.#now = until;
      return error;
    }
    const { status } = this.#present.envelope;
    if (status !== "active") return `The machine is ${status} before '${nameOf(event)}'.`;
    const input = this.#inputOf(event);
    if (input === null) return this.#nobodyRuns(nameOf(event));
    const record = this.#give(input);
    if (typeof record === "string") return record;
    const { handled, reason } = record;
    this.#lastTaken = { handled, ...(reason === null ? {} : { reason }) };
    return this.#fireDue();
  }

  isIn(expected: StateValue): boolean {
    if (canonicalJson(expected) === canonicalJson(this.stateValue)) return true;
    return typeof expected === "string" && activePaths(this.#present.live).has(expected);
  }

  /** Null where it is the result of an activity that does not run. */
  #inputOf(event: Exclude<PlayEvent, Passed>): Input | null {
    if (typeof event === "string") return { kind: "event", type: event, payload: null };
    if ("type" in event) {
      return { kind: "event", type: event.type, payload: event.payload ?? null };
    }
    const name = nameOf(event);
    const running = this.#present.envelope.activities.findLast(
      ({ id, status }) => id === name && status === "running",
    );
    if (running === undefined) return null;
    const { ref } = running;
    if ("done" in event) {
      return { kind: "activity_done", ref, output: event.output ?? null, attempts: 1 };
    }
    const { code = "failed", message = "", attempts = 1, status, body } = event.error ?? {};
    const more = {
      ...(status === undefined ? {} : { status }),
      ...(body === undefined ? {} : { body }),
    };
    return { kind: "activity_failed", ref, error: { code, message, attempts, ...more } };
  }

  #nobodyRuns(name: string): string {
    const running = this.#present.envelope.activities.flatMap(({ id, status }) =>
      status === "running" ? [`'${id}'`] : [],
    );
    const known = running.length === 0 ? "none does" : `it is ${running.join(", ")} that does`;
    return `The activity '${name}' does not run; ${known}.`;
  }

  /** The record of it, or what went wrong. */
  #give(input: Input): LogRecord | string {
    const outcome = advance(this.#present, input, this.#now, NO_ORIGIN);
    if (!outcome.ok) return outcome.fault.message;
    if (outcome.record.error) return outcome.record.error.message;
    this.#actor = outcome.actor;
    return outcome.record;
  }

  #fireDue(until = this.#now): string | null {
    for (let fired = 0; ; fired += 1) {
      const timer = this.#present.envelope.timers[0];
      if (timer === undefined || timer.dueAt > until) return null;
      if (fired === LIMITS.timersPerAdvance) {
        return `More than ${LIMITS.timersPerAdvance} timers fired (limit timersPerAdvance).`;
      }
      this.#now = Math.max(this.#now, timer.dueAt);
      const record = this.#give({ kind: "timer", timerId: timer.id });
      if (typeof record === "string") return record;
    }
  }
}

function nameOf(event: Exclude<PlayEvent, Passed>): string {
  if (typeof event === "string") return event;
  if ("type" in event) return event.type;
  return "done" in event ? event.done : event.failed;
}
