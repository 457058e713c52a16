import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Birth, Input } from "../../src/lifecycle/input.ts";
import { moveBy } from "../../src/lifecycle/move.ts";
import { refuseMove } from "../../src/lifecycle/refuse-move.ts";
import { beforeMove, whyNoRollback } from "../../src/lifecycle/roll-back.ts";
import { decodeRecord, encodeBody } from "../../src/lifecycle/record.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import type { Move } from "../../src/migration/rule.ts";

export const ADDRESS = { tenant: "t", id: "a" };

/** One actor with its log, over versions of the family `m`: `m-v1`, whose hash is `hash-v1`, and so on. */
export class Life {
  readonly log: LogRecord[] = [];
  readonly #machines = new Map<string, CompiledMachine>();
  #actor: Actor;
  at = 1_000;

  constructor(definition: JsonObject, birth: Partial<Birth> = {}) {
    const machine = this.version(1, definition);
    const full = {
      uid: "f".repeat(32),
      definitionId: "m-v1",
      definitionHash: "hash-v1",
      ...birth,
    };
    this.#actor = this.taken(beginActor(ADDRESS, machine, full, this.at, NO_ORIGIN)).actor;
  }

  get actor(): Actor {
    return this.#actor;
  }

  get envelope(): Actor["envelope"] {
    return this.#actor.envelope;
  }

  get last(): LogRecord {
    return this.log.at(-1) as LogRecord;
  }

  /** Deploys a version. */
  version(n: number, definition: JsonObject): CompiledMachine {
    const machine = compileDefinition({ id: "m", ...definition });
    this.#machines.set(`hash-v${n}`, machine);
    return machine;
  }

  machineOf = (hash: string): CompiledMachine => {
    const machine = this.#machines.get(hash);
    if (machine === undefined) throw new Error(`There is no version of hash '${hash}'.`);
    return machine;
  };

  taken(advanced: Advanced): Advanced & { ok: true } {
    if (!advanced.ok) throw new Error(advanced.fault.message);
    // As it is read from storage.
    const { seq, at, kind, key, request } = advanced.record;
    this.log.push(decodeRecord({ seq, at, kind, key, request }, encodeBody(advanced.record)));
    this.#actor = advanced.actor;
    return advanced;
  }

  give(input: Input): LogRecord {
    return this.taken(advance(this.#actor, input, this.at, NO_ORIGIN)).record;
  }

  /** What an input would make of an actor like this one; the life does not go on from it. */
  tryOn(actor: Actor, input: Input): Advanced {
    return advance(actor, input, this.at, NO_ORIGIN);
  }

  event(type: string, payload: JsonObject | null = null): LogRecord {
    return this.give({ kind: "event", type, payload });
  }

  /** The ref of the activity of this name that runs. */
  ref(id: string): string {
    const found = this.envelope.activities.find((one) => one.id === id && one.status === "running");
    if (found === undefined) throw new Error(`No activity '${id}' runs.`);
    return found.ref;
  }

  /** The activity's result. */
  done(id: string, output: JsonValue = null): LogRecord {
    return this.give({ kind: "activity_done", ref: this.ref(id), output, attempts: 1 });
  }

  fail(id: string, code = "http_status", attempts = 5): LogRecord {
    const error = { code, message: "It said no.", attempts };
    return this.give({ kind: "activity_failed", ref: this.ref(id), error });
  }

  /** Fires all that is due within these ms, in order. */
  pass(ms: number): void {
    this.at += ms;
    for (let timer = this.envelope.timers[0]; timer && timer.dueAt <= this.at;) {
      this.give({ kind: "timer", timerId: timer.id });
      timer = this.envelope.timers[0];
    }
  }

  moveTo(n: number, more: Partial<Move> = {}): Move {
    return {
      ruleId: `r_${n}`,
      from: this.envelope.definitionId,
      to: `m-v${n}`,
      toHash: `hash-v${n}`,
      decidedAtSeq: this.envelope.seq,
      stateMapping: {},
      contextMapping: {},
      entered: {},
      ...more,
    };
  }

  /** Throws where its replay, as the log says, gives another snapshot. */
  checkReplay(): void {
    const again = this.replayed().actor?.envelope;
    if (canonicalJson(again as never) === canonicalJson(this.envelope as never)) return;
    throw new Error(`${canonicalJson(again as never)}\n${canonicalJson(this.envelope as never)}`);
  }

  /** Why version `n` has no place for it, or "moved". */
  refusal(n: number, definition: JsonObject, more: Partial<Move> = {}): string {
    const moved = moveBy(this.#actor, this.moveTo(n, more), this.version(n, definition), this.at);
    return moved.ok ? "moved" : moved.code;
  }

  /** Moves to version `n`, deployed or given; throws what makes it unmappable. */
  move(n: number, definition: JsonObject | null, more: Partial<Move> = {}): LogRecord {
    if (definition !== null) this.version(n, definition);
    const move = this.moveTo(n, more);
    const moved = moveBy(this.#actor, move, this.machineOf(move.toHash), this.at);
    if (!moved.ok) throw new Error(`${moved.code}: ${moved.message}`);
    return this.taken(moved).record;
  }

  /** A rule matches and cannot move it; false where that was recorded before. */
  refuse(n: number, strand: boolean, message = "a"): boolean {
    const reason = { code: "state_missing", message };
    const refused = refuseMove(this.#actor, this.moveTo(n), reason, strand, this.at);
    if (refused !== null) this.taken(refused);
    return refused !== null;
  }

  /** Takes its last move back, or says why that cannot be. */
  rollBack(reason: string | null = null): string | null {
    const { seq } = this.envelope.entered;
    const moved = this.log.find((record) => record.seq === seq) ?? null;
    const refused = whyNoRollback(moved, this.log.slice(seq));
    if (refused !== null || moved === null) return refused;
    const machine = this.machineOf(beforeMove(moved).definitionHash);
    this.give({ kind: "rolled_back", moved, machine, reason });
    return null;
  }

  /** The log lived again; throws where it comes out another. */
  replayed(): Replay {
    const [, ...versions] = [...this.#machines.values()];
    const machine = (this.#machines.get("hash-v1") ?? versions[0]) as CompiledMachine;
    const replay = new Replay(ADDRESS, machine, {
      machineOf: this.machineOf,
      recordAt: (seq) => this.log[seq - 1] as LogRecord,
    });
    const divergence = replay.run(this.log);
    if (divergence !== null) throw new Error(JSON.stringify(divergence));
    return replay;
  }
}
