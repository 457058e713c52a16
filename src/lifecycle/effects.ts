import type { Effect } from "./types.ts";

/** What one record asks for outside, as it is put together. Whatever it begins has a number of its own. */
export class Effects {
  readonly #seq: number;
  #asked: Effect[] = [];
  #numbers = 0;

  /** `seq`: of the record. */
  constructor(seq: number) {
    this.#seq = seq;
  }

  get list(): readonly Effect[] {
    return this.#asked;
  }

  /** `seq:n`, given once. */
  nextRef(): string {
    return `${this.#seq}:${this.#numbers++}`;
  }

  ask(effect: Effect): void {
    this.#asked.push(effect);
  }

  /** Whether this very record began it: then it has reached nobody, and its start is taken back. */
  takeBack(ref: string): boolean {
    if (!ref.startsWith(`${this.#seq}:`)) return false;
    this.#asked = this.#asked.filter((effect) => effect.ref !== ref);
    return true;
  }
}
