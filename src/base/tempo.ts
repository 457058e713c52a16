import { pause } from "./pause.ts";

/** ms of turns that may be made up for at once after an idle moment. */
const SLACK_MS = 250;

/** Turns at an even rate, for those who would take all at once; in the order in which they came. */
export class Tempo {
  readonly #intervalMs: number;
  #nextAt = 0;

  /** `perSecond`: Infinity lets everyone through. */
  constructor(perSecond: number) {
    this.#intervalMs = 1_000 / perSecond;
  }

  async turn(): Promise<void> {
    const waitMs = this.take(Date.now());
    if (waitMs > 0) await pause(waitMs);
  }

  /** ms until the turn that is taken now. */
  take(now: number): number {
    const at = Math.max(this.#nextAt, now - SLACK_MS);
    this.#nextAt = at + this.#intervalMs;
    return Math.max(0, at - now);
  }
}
