import type { JsonObject } from "../base/json.ts";
import type { Input } from "./input.ts";
import { timerName } from "./timers.ts";
import type { Activity, ActivityDue, Envelope, LogRecord } from "./types.ts";

/**
 * A log names timers and activities by what numbered them. On another definition the same ones have other numbers: here
 * they find each other.
 */
export class OtherIds {
  readonly #timers = new Map<string, string>();
  readonly #refs = new Map<string, string>();

  /** The record's input with the ids of `envelope`; null when no such timer is armed there. */
  translated(input: Input, record: LogRecord, { timers, activities }: Envelope): Input | null {
    switch (input.kind) {
      case "timer": {
        const { timerId } = input;
        const known = this.#timers.get(timerId);
        const timer = timers.find((armed) =>
          known === undefined ? namesIn(record).includes(nameOf(armed)) : armed.id === known,
        );
        if (timer === undefined) return null;
        this.#timers.set(timerId, timer.id);
        return { ...input, timerId: timer.id };
      }
      case "activity_done":
      case "activity_failed":
      case "child_done":
      case "child_failed":
      case "task_changed": {
        const meant = activities.filter((activity) => isMeant(activity, record.payload));
        const own = meant.find(({ ref }) => ref === input.ref) ?? meant[0];
        if (own !== undefined) this.#refs.set(input.ref, own.ref);
        // The same ref may be another's there.
        return { ...input, ref: this.#refs.get(input.ref) ?? NOBODY };
      }
      case "retried":
        return {
          ...input,
          items: input.items.map((id) => this.#timers.get(id) ?? this.#refs.get(id) ?? id),
        };
      case "unscheduled":
        return { ...input, timerId: this.#timers.get(input.timerId) ?? input.timerId };
      default:
        return input;
    }
  }

  /** A schedule request says its timer's id in its result. */
  note(record: LogRecord, again: LogRecord): void {
    if (record.kind !== "scheduled") return;
    this.#timers.set(record.result?.["timerId"] as string, again.result?.["timerId"] as string);
  }
}

type Timer = Envelope["timers"][number];

/** A ref that no activity has: records are numbered from 1. */
const NOBODY = "0:0";

/** Due times of activities are told apart by what they are for. */
function nameOf(timer: Timer): string {
  return timer.kind === "activity" ? dueOf(timer.invoke, timer.what) : timerName(timer);
}

function dueOf(id: string, what: ActivityDue): string {
  return `${what} of ${id}`;
}

/** The names that the timer may have which a record tells of. */
function namesIn({ kind, type, payload }: LogRecord): string[] {
  const { id = "", error } = (payload ?? {}) as { id?: string; error?: { code: string } };
  switch (kind) {
    case "reminder":
      return [dueOf(id, "reminder")];
    case "escalated":
      return [dueOf(id, "escalation")];
    case "activity_done":
    case "activity_failed":
      if (error?.code === "deadline") return [dueOf(id, "deadline"), type ?? ""];
      if (error?.code === "expired") return [dueOf(id, "expiry"), type ?? ""];
      return [dueOf(id, "end"), type ?? ""];
    default:
      return [type ?? ""];
  }
}

/** An activity that runs there, of the name that a record gives; a step of a compensation is told from what it undoes. */
function isMeant({ id, status, undoes }: Activity, payload: JsonObject | null): boolean {
  if (status !== "running" || id !== payload?.["id"]) return false;
  return (undoes === undefined) === (payload["undoes"] === undefined);
}
