/** The part of a Durable Object's storage that SQL needs; the real `DurableObjectStorage` fits without a cast. */
interface StorageLike {
  readonly sql: { exec(query: string, ...bindings: SqlValue[]): Cursor };
  transactionSync<T>(closure: () => T): T;
}

interface Cursor extends Iterable<Record<string, unknown>> {
  toArray(): Record<string, unknown>[];
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

type SqlValue = string | number | null | ArrayBuffer;

/** What an object has cost since it woke. Rows are what Durable Objects bill for. */
export interface Meter {
  rowsRead: number;
  rowsWritten: number;
  /** Calls of `setAlarm`: each is one more billed row that no cursor shows. */
  alarmsSet: number;
}

/** Of what memory knows: called as a transaction begins, it answers what takes memory back when that is undone. */
type Memory = () => () => void;

/**
 * Statements over one object's SQLite, synchronous. Bindings are plain values; booleans are 0 or 1.
 * `transaction` undoes everything inside when its closure throws; without it a throw keeps what was written.
 */
export class Db {
  readonly meter: Meter = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0 };
  readonly #storage: StorageLike;
  readonly #memories: Memory[] = [];
  /** Cursors with rows that nobody wanted. Nothing closes one but its end, or the collection of what nobody holds. */
  #left: WeakRef<Cursor>[] = [];

  constructor(storage: StorageLike) {
    this.#storage = storage;
  }

  all<Row extends object>(sql: string, ...bindings: SqlValue[]): Row[] {
    const cursor = this.#storage.sql.exec(sql, ...bindings);
    const rows = cursor.toArray();
    this.meter.rowsRead += cursor.rowsRead;
    this.meter.rowsWritten += cursor.rowsWritten;
    return rows as Row[];
  }

  /** Rows one by one, for results that may be too large to hold. Must be used up or left before the next `await`. */
  *each<Row extends object>(sql: string, ...bindings: SqlValue[]): Generator<Row> {
    const cursor = this.#storage.sql.exec(sql, ...bindings);
    let ended = false;
    try {
      for (const row of cursor) yield row as Row;
      ended = true;
    } finally {
      if (!ended) this.#left = [...this.#left.filter((ref) => ref.deref()), new WeakRef(cursor)];
      this.meter.rowsRead += cursor.rowsRead;
      this.meter.rowsWritten += cursor.rowsWritten;
    }
  }

  /** Ends all cursors that were left: SQLite drops no table while one is open, whichever it reads. */
  endCursors(): void {
    for (const ref of this.#left) {
      const cursor = ref.deref();
      if (cursor !== undefined) for (const row of cursor) void row;
    }
    this.#left = [];
  }

  one<Row extends object>(sql: string, ...bindings: SqlValue[]): Row | null {
    return this.all<Row>(sql, ...bindings)[0] ?? null;
  }

  run(sql: string, ...bindings: SqlValue[]): void {
    // Runs at once; without rows there is nothing to fetch.
    const { rowsRead, rowsWritten } = this.#storage.sql.exec(sql, ...bindings);
    this.meter.rowsRead += rowsRead;
    this.meter.rowsWritten += rowsWritten;
  }

  /** What memory learns in a transaction that is undone, an alarm that was set in it too, never was. */
  remember(memory: Memory): void {
    this.#memories.push(memory);
  }

  transaction<T>(closure: () => T): T {
    const goBack = this.#memories.map((memory) => memory());
    try {
      return this.#storage.transactionSync(closure);
    } catch (error) {
      for (const undo of goBack) undo();
      throw error;
    }
  }
}
