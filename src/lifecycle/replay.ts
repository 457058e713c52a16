import { PerdureError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { Actor } from "./actor.ts";
import { advance } from "./advance.ts";
import { beginActor } from "./birth.ts";
import { control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { birthOf, inputOf, originOf } from "./input.ts";
import type { Input, Library } from "./input.ts";
import { OtherIds } from "./other-ids.ts";
import { ownResult } from "./record.ts";
import { isMove } from "./roll-back.ts";
import type { LogRecord } from "./types.ts";

export interface Divergence {
  seq: number;
  expected: JsonValue;
  actual: JsonValue;
}

interface ReplayOptions extends Partial<Library> {
  /** Whether the whole history is tried on `machine` alone, which need not be the actor's. */
  onOther?: boolean;
  /** The actor to begin with, instead of its birth. */
  from?: Actor | null;
}

/**
 * Runs a log from its first record, or `from` a later point, and compares each outcome with what was recorded. With `onOther` the
 * history is tried on another definition: only what is handled, and where it leads, is compared, and moves are left out.
 */
export class Replay {
  readonly #address: { tenant: string; id: string };
  readonly #machine: CompiledMachine;
  /** Null on the actor's own definitions. */
  readonly #ids: OtherIds | null;
  readonly #library: Library;
  #actor: Actor | null;
  /** The last move that was run: what a rollback takes back. */
  #moved: LogRecord | null = null;

  /** `machine` is the one of all its definitions, unless `machineOf` knows better. */
  constructor(
    address: { tenant: string; id: string },
    machine: CompiledMachine,
    { onOther = false, from = null, machineOf = () => machine, recordAt }: ReplayOptions = {},
  ) {
    this.#address = address;
    this.#machine = machine;
    this.#ids = onOther ? new OtherIds() : null;
    this.#actor = from;
    const found = (seq: number) => {
      if (this.#moved?.seq === seq) return this.#moved;
      if (recordAt === undefined) throw new Error(`Record ${seq} is not among those given.`);
      return recordAt(seq);
    };
    this.#library = { machineOf, recordAt: found };
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
      if (isMove(record)) this.#moved = record;
      this.#ids?.note(record, again.record);
      if (this.#leftOut(record)) continue;
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
        const birth = birthOf(record);
        const machine =
          this.#ids === null ? this.#library.machineOf(birth.definitionHash) : this.#machine;
        again = beginActor(this.#address, machine, birth, at, origin, record.epoch);
      } else if (this.#leftOut(record)) {
        again = control(this.#actor, {}, { kind: record.kind }, at, origin);
      } else {
        const input = this.#inputOf(record, this.#actor);
        if (input === null)
          return { ok: false, error: { message: `No timer '${type}' is armed.` } };
        const { epoch } = record;
        const before = { ...this.#actor, envelope: { ...this.#actor.envelope, epoch } };
        again = advance(before, input, at, origin);
      }
      return again.ok ? again : { ok: false, error: { ...again.fault } };
    } catch (error) {
      // An adopted snapshot need not fit another definition.
      if (!(error instanceof PerdureError)) throw error;
      return { ok: false, error: { code: error.failure.code, message: error.failure.detail } };
    }
  }

  #inputOf(record: LogRecord, { envelope, machine }: Actor): Input | null {
    if (this.#ids === null) return inputOf(record, this.#library);
    const input = inputOf(record, { ...this.#library, machineOf: () => machine });
    if (input.kind === "rescued") return { ...input, to: null };
    return this.#ids.translated(input, record, envelope);
  }

  /** On one definition alone there are no moves, nor a rescue that was only one. */
  #leftOut({ kind, payload }: LogRecord): boolean {
    if (this.#ids === null) return false;
    if (kind === "migrated" || kind === "rolled_back") return true;
    return kind === "rescued" && !("stateValue" in (payload ?? {}) || "context" in (payload ?? {}));
  }

  #compared(record: LogRecord): JsonValue {
    const { handled, reason, stateValue, error } = record;
    if (this.#ids !== null) return { handled, stateValue, failed: error !== null };
    const { decisions, emitted, effects, result, fingerprint, type, payload } = record;
    return {
      type,
      payload,
      handled,
      reason,
      stateValue,
      decisions: decisions as JsonValue,
      emitted,
      effects: effects as unknown as JsonValue,
      result: ownResult(result),
      fingerprint,
      error: error as JsonValue,
    };
  }
}
