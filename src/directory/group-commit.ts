import { othersTurn } from "../base/pause.ts";

interface Job {
  run: () => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

/** What a group is written with. */
export interface Ledger {
  /** Runs a closure in a transaction, which is undone when it throws. */
  transaction<T>(closure: () => T): T;
  /** Right after a transaction, in its turn. */
  committed(): void;
  /** After a transaction was undone: what memory had learned in it is not true. */
  undone(): void;
  /** Resolves when what was written is durable. */
  durable(): Promise<void>;
}

/**
 * Changes that arrive while others are being written down share the next transaction, and its one flush to
 * the disk. An answer is held back by the platform until that flush, so it may be given right after the commit.
 */
export class GroupCommit {
  readonly #ledger: Ledger;
  readonly #most: number;
  #waiting: Job[] = [];
  #running = false;
  /** Transactions since this object woke, for tests that count. */
  commits = 0;

  constructor(ledger: Ledger, most: number) {
    this.#ledger = ledger;
    this.#most = most;
  }

  /** Runs a synchronous change in the next group. Its throw is its own: others of the group are kept. */
  add<T>(run: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run, done: resolve as (value: unknown) => void, failed: reject });
      if (!this.#running) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting.length > 0) {
        // A turn of the event loop, in which others that have arrived are let in.
        await othersTurn();
        this.#commit(this.#waiting.splice(0, this.#most));
        await this.#ledger.durable();
      }
    } catch {
      // What could not be made durable breaks the object, which answers for it: no caller hears of success.
    } finally {
      this.#running = false;
    }
    if (this.#waiting.length > 0) void this.#work();
  }

  #commit(group: Job[]): void {
    try {
      const values = this.#transact(() => group.map(({ run }) => run()));
      group.forEach(({ done }, index) => done(values[index]));
    } catch (error) {
      const [only] = group;
      if (group.length === 1) only?.failed(error);
      else for (const job of group) this.#commit([job]);
    }
  }

  #transact<T>(closure: () => T): T {
    try {
      const value = this.#ledger.transaction(closure);
      this.commits += 1;
      this.#ledger.committed();
      return value;
    } catch (error) {
      this.#ledger.undone();
      throw error;
    }
  }
}
