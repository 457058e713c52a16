import { PerdureError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { Actor } from "./actor.ts";
import { advance } from "./advance.ts";
import { beginActor } from "./birth.ts";
import type { Advanced } from "./conclude.ts";
import { birthOf, inputOf, originOf } from "./input.ts";
import type { Input } from "./input.ts";
import { TimerIds } from "./timer-ids.ts";
import type { LogRecord } from "./types.ts";

export interface Divergence {
  seq: number;
  expected: JsonValue;
  actual: JsonValue;
}

/**
 * Runs a log from its first record, or `from` a later point, and compares each outcome with what was recorded. With `onOther` the
 * history is tried on another definition: only what is handled, and where it leads, is compared.
 */
export class Replay {
  readonly #address: { tenant: string; id: string };
  readonly #machine: CompiledMachine;
  /** Null on the actor's own definition. */
  readonly #timerIds: TimerIds | null;
  #actor: Actor | null;

  constructor(
    address: { tenant: string; id: string },
    machine: CompiledMachine,
    { onOther = false, from = null }: { onOther?: boolean; from?: Actor | null } = {},
  ) {
    this.#address = address;
    this.#machine = machine;
    this.#timerIds = onOther ? new TimerIds() : null;
    this.#actor = from;
  }

  get actor(): Actor | null {
    return this.#actor;
  }

  /** The first divergence among these records, or null when all come out the same. */
  run(records: readonly LogRecord[]): Divergence | null {
    for (const record of records) {
      const again = this.#again(record);
      const { seq } = record;
      if (!again.ok) {
        return { seq, expected: this.#compared(record), actual: { error: again.error } };
      }
      this.#actor = again.actor;
      this.#timerIds?.note(record, again.record);
      const expected = this.#compared(record);
      const actual = this.#compared(again.record);
      if (canonicalJson(expected) !== canonicalJson(actual)) return { seq, expected, actual };
    }
    return null;
  }

  /** What the actor before a record and the record's input give today. */
  #again(record: LogRecord): Exclude<Advanced, { ok: false }> | { ok: false; error: JsonObject } {
    const { at, type } = record;
    const origin = originOf(record);
    try {
      let again: Advanced;
      if (this.#actor === null) {
        again = beginActor(this.#address, this.#machine, birthOf(record), at, origin);
      } else {
        const input = this.#inputOf(record, this.#actor);
        if (input === null)
          return { ok: false, error: { message: `No timer '${type}' is armed.` } };
        again = advance(this.#actor, input, at, origin);
      }
      return again.ok ? again : { ok: false, error: { ...again.fault } };
    } catch (error) {
      // An adopted snapshot need not fit another definition.
      if (!(error instanceof PerdureError)) throw error;
      return { ok: false, error: { code: error.failure.code, message: error.failure.detail } };
    }
  }

  #inputOf(record: LogRecord, { envelope }: Actor): Input | null {
    const input = inputOf(record);
    return this.#timerIds === null ? input : this.#timerIds.translated(input, record, envelope);
  }

  #compared(record: LogRecord): JsonValue {
    const { handled, reason, stateValue, error } = record;
    if (this.#timerIds !== null) return { handled, stateValue, failed: error !== null };
    const { decisions, emitted, result, fingerprint, type, payload } = record;
    return {
      type,
      payload,
      handled,
      reason,
      stateValue,
      decisions: decisions as JsonValue,
      emitted,
      // Of control records the result says what the call answered, not what the record decided.
      result: decisions === null ? null : result,
      fingerprint,
      error: error as JsonValue,
    };
  }
}
