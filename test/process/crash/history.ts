import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What happened in a run, for whoever has to find out why it went wrong. */
export class History {
  readonly #startedAt = Date.now();
  readonly #lines: string[] = [];

  get length(): number {
    return this.#lines.length;
  }

  note(what: string, about: object = {}): void {
    this.#lines.push(JSON.stringify({ ms: Date.now() - this.#startedAt, what, ...about }));
  }

  /** Writes it to a file of its own, and says where. */
  save(): string {
    const file = join(mkdtempSync(join(tmpdir(), "perdure-history-")), "history.jsonl");
    writeFileSync(file, `${this.#lines.join("\n")}\n`);
    return file;
  }
}
