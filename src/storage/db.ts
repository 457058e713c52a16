/** The part of a Durable Object's storage that SQL needs; the real `DurableObjectStorage` fits without a cast. */
export interface StorageLike {
  readonly sql: {
    exec(
      query: string,
      ...bindings: SqlValue[]
    ): Iterable<Record<string, unknown>> & {
      toArray(): Record<string, unknown>[];
      readonly rowsRead: number;
      readonly rowsWritten: number;
    };
  };
  transactionSync<T>(closure: () => T): T;
}

export type SqlValue = string | number | null | ArrayBuffer;

/** What an object has cost since it woke. Rows are what Durable Objects bill for. */
export interface Meter {
  rowsRead: number;
  rowsWritten: number;
  /** Calls of `setAlarm`: each is one more billed row that no cursor shows. */
  alarmsSet: number;
}

/**
 * Statements over one object's SQLite, synchronous. Bindings are plain values; booleans are 0 or 1.
 * `transaction` undoes everything inside when its closure throws; without it a throw keeps what was written.
 */
export class Db {
  readonly meter: Meter = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0 };
  readonly #storage: StorageLike;

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
    try {
      for (const row of cursor) yield row as Row;
    } finally {
      this.meter.rowsRead += cursor.rowsRead;
      this.meter.rowsWritten += cursor.rowsWritten;
    }
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

  transaction<T>(closure: () => T): T {
    return this.#storage.transactionSync(closure);
  }
}
