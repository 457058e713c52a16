import type { Documented } from "./documented.ts";
import { median } from "./laws.ts";
import type { Sample } from "./laws.ts";
import type { Reply } from "./line.ts";

/** What many clients saw in one run. */
export class Observed {
  /** ms that requests took, by their kind. */
  readonly took = new Map<string, Sample[]>();
  /** Answers by the code of a refusal. */
  readonly refused = new Map<string, number>();
  /** Everything that must not be. */
  readonly wrong: string[] = [];
  answers = 0;
  readonly #documented: Documented;
  readonly #startedAt = performance.now();
  /** When each actor was asked for the last time. */
  readonly #touched = new Map<string, number>();

  constructor(documented: Documented) {
    this.#documented = documented;
  }

  /** ms. */
  get now(): number {
    return performance.now() - this.#startedAt;
  }

  /** `expected`: codes with which this very request may be refused, beside a server that cannot answer now. */
  note(
    kind: string,
    method: string,
    path: string,
    { status, body, sentAt, answeredAt }: Reply,
    expected: readonly string[],
  ): void {
    this.answers += 1;
    const took = this.took.get(kind) ?? [];
    took.push({ at: answeredAt - this.#startedAt, value: answeredAt - sentAt });
    this.took.set(kind, took);
    const named = /^\/v1\/actors\/([^/?]+)/.exec(path)?.[1];
    const actor = kind === "spawn" ? body.id : named;
    if (actor !== undefined) this.#touched.set(actor, this.now);
    if (status < 300) return;
    const code = String(body.code);
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    const passing = code === "unavailable" || code === "rate_limited";
    const mayBe = passing || expected.includes(code);
    if (!mayBe || !this.#documented.has(method, path, status, code)) {
      this.wrong.push(`${method} ${path} was answered ${status}: ${JSON.stringify(body)}`);
    }
  }

  medians(): { [kind: string]: number } {
    const kinds = [...this.took].map(([kind, took]) => [
      kind,
      Math.round(median(took.map(({ value }) => value))),
    ]);
    return Object.fromEntries(kinds);
  }

  /** Actors that were asked for in the last `ms`. */
  touchedIn(ms: number): number {
    const since = this.now - ms;
    for (const [actor, at] of this.#touched) if (at < since) this.#touched.delete(actor);
    return this.#touched.size;
  }
}
