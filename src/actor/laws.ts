import type { Actor } from "../lifecycle/actor.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { Decided } from "../migration/evaluate.ts";
import type { Move } from "../migration/rule.ts";
import type { ReadyRule } from "../registry/rule-cache.ts";
import type { Db } from "../storage/db.ts";
import type { Draft } from "./decider.ts";
import { enteredTimes } from "./entered-times.ts";
import type { Reach } from "./reach.ts";

/** What one transaction goes by: rules, the machines that they lead to, and how they decide. Asked without a wait. */
export class Laws {
  readonly #reach: Reach;
  readonly #draft: Draft;
  readonly #db: Db;

  constructor(reach: Reach, draft: Draft, db: Db) {
    this.#reach = reach;
    this.#draft = draft;
    this.#db = db;
  }

  get epoch(): number {
    return this.#reach.epoch;
  }

  /** The rules about actors on a definition. */
  from(definitionId: string): readonly ReadyRule[] {
    return this.#reach.from(definitionId);
  }

  /** The machine that a rule leads to. */
  target(rule: ReadyRule): CompiledMachine {
    return this.#reach.target(rule);
  }

  /** What the history says to a rule; `records`: those of the transaction so far. */
  decide(rule: ReadyRule, envelope: Envelope, records: readonly LogRecord[]): Decided {
    return this.#draft.decide(rule, envelope, records);
  }

  /** Records were taken back. */
  restart(): void {
    this.#draft.restart();
  }

  /** What would move an actor by a rule that has matched, without what its log says of states. */
  moveOf({ rule }: ReadyRule, decidedAtSeq: number): Move {
    const { id: ruleId, from, to, toHash, stateMapping, contextMapping } = rule;
    return { ruleId, from, to, toHash, stateMapping, contextMapping, decidedAtSeq, entered: {} };
  }

  /** The move with when the actor came to its states; `records`: those of the transaction so far. */
  dated(move: Move, ready: ReadyRule, actor: Actor, records: readonly LogRecord[]): Move {
    const target = this.target(ready);
    return { ...move, entered: enteredTimes(this.#db, actor, target, move, records) };
  }
}
