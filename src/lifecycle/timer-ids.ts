import type { Input } from "./input.ts";
import { timerName } from "./timers.ts";
import type { Envelope, LogRecord } from "./types.ts";

/** A log names timers by ids. On another definition the same timers have other ids: here they find each other. */
export class TimerIds {
  readonly #others = new Map<string, string>();

  /** The record's input with the ids of `envelope`; null when no such timer is armed there. */
  translated(input: Input, record: LogRecord, { timers }: Envelope): Input | null {
    switch (input.kind) {
      case "timer": {
        const { timerId } = input;
        const known = this.#others.get(timerId);
        const timer = timers.find((armed) =>
          known === undefined ? timerName(armed) === record.type : armed.id === known,
        );
        if (timer === undefined) return null;
        this.#others.set(timerId, timer.id);
        return { ...input, timerId: timer.id };
      }
      case "retried":
        return { ...input, items: input.items.map((id) => this.#others.get(id) ?? id) };
      case "unscheduled":
        return { ...input, timerId: this.#others.get(input.timerId) ?? input.timerId };
      default:
        return input;
    }
  }

  /** A schedule request says its timer's id in its result. */
  note(record: LogRecord, again: LogRecord): void {
    if (record.kind !== "scheduled") return;
    this.#others.set(record.result?.["timerId"] as string, again.result?.["timerId"] as string);
  }
}
