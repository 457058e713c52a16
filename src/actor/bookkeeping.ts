import { LIMITS } from "../base/limits.ts";
import { packSteps } from "../lifecycle/steps.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { handledSteps } from "../storage/actor-log.ts";
import { countEvents } from "../storage/actor-schema.ts";
import { updateBooks } from "../storage/actor-snapshot.ts";
import type { Books } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";

/** Books of an actor that has lived nothing. */
const NONE: Books = { events: 0, replays: 0, steps: "", announced: 0 };

/** The actor whose books these are. */
interface Owner {
  db: Db;
  /** The last record; 0 without an actor. */
  seq(): number;
  /** One transaction on tables of today's schema. */
  write(write: () => void): void;
}

/** What is counted beside an actor's snapshot. It changes in memory first: the next commit writes it, or `keep`. */
export class Bookkeeping {
  readonly #owner: Owner;
  /** Null where they were never kept. */
  #books: Books | null = NONE;
  #unkept = false;
  #keeping = false;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /**
   * As the next commit will write them. For an actor of an older schema they are made from the log, and
   * what was recorded before is announced to nobody.
   */
  get books(): Books {
    const { db } = this.#owner;
    this.#books ??= {
      events: countEvents(db),
      replays: 0,
      steps: packSteps("", stepsIn(db)),
      announced: this.#owner.seq(),
    };
    return this.#books;
  }

  /** As they were found in storage; null where they were never kept. */
  found(books: Books | null): void {
    this.#books = books;
  }

  /** As they will be with more records, of a newborn's the first. */
  after(records: readonly LogRecord[], newborn: boolean): Books {
    const events = records.filter(({ kind }) => kind === "event").length;
    const known = newborn ? NONE : this.books;
    const steps = packSteps(known.steps, records);
    return { ...known, events: known.events + events, steps };
  }

  /** A commit wrote them. */
  written(books: Books): void {
    this.#books = books;
    this.#unkept = false;
  }

  /** The tables went, and the books with them. */
  close(): void {
    this.written(NONE);
  }

  /** Webhooks were told up to this record. */
  announced(seq: number): void {
    this.#books = { ...this.books, announced: Math.max(seq, this.books.announced) };
  }

  /** Writes how far webhooks were told: one row. */
  keepAnnounced(): void {
    this.#note({});
    this.keep();
  }

  /** A repeat was answered from its key. The next commit writes it, or a timer in memory. */
  countReplay(): void {
    this.#note({ replays: this.books.replays + 1 });
    if (this.#keeping) return;
    this.#keeping = true;
    setTimeout(() => {
      this.#keeping = false;
      this.keep();
    }, LIMITS.repeatsKeptMs);
  }

  /** Writes what was noted and has not been written: one row, or none. */
  keep(): void {
    if (!this.#unkept) return;
    this.#owner.write(() => updateBooks(this.#owner.db, this.books));
    this.#unkept = false;
  }

  #note(changes: Partial<Books>): void {
    this.#books = { ...this.books, ...changes };
    this.#unkept = true;
  }
}

function* stepsIn(db: Db): Generator<{ type: string; handled: true }> {
  for (const { type } of handledSteps(db)) yield { type, handled: true };
}
