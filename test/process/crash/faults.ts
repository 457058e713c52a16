import type { Fault } from "../../../examples/outside/faults.ts";
import type { Call } from "../../../examples/outside/receiver.ts";
import { oneOf } from "./dice.ts";
import type { History } from "./history.ts";

/** Faults after which a request has to be made again, and others; `late` is about an order's timeout of 2,000 ms. */
const DEMANDING: Fault[] = [
  { what: "fail" },
  { what: "fail", status: 429 },
  { what: "drop" },
  { what: "close" },
  { what: "hang" },
  { what: "late", ms: 3_000 },
];
const HARMLESS: Fault[] = [{ what: "late", ms: 300 }, { what: "twice" }];

/**
 * Faults at the first two requests of a key, so that none of them uses up an order's five attempts. About every third
 * request meets one.
 */
export class Faults {
  readonly #random: () => number;
  readonly #history: History;
  readonly #seen = new Map<string, number>();
  #demanding = 0;

  constructor(random: () => number, history: History) {
    this.#random = random;
    this.#history = history;
  }

  of({ key, service }: Call): Fault | null {
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    const fault = count > 2 ? null : this.#dice();
    if (fault !== null && DEMANDING.includes(fault)) this.#demanding += 1;
    this.#history.note("called", { key, service, count, fault });
    return fault;
  }

  /** Of so many requests in all, those that only a kill explains. */
  repeatedByKills(calls: number): number {
    return calls - this.#seen.size - this.#demanding;
  }

  #dice(): Fault {
    const dice = this.#random();
    if (dice < 0.3) return oneOf(DEMANDING, this.#random);
    if (dice < 0.4) return oneOf(HARMLESS, this.#random);
    // Slow enough that kills find it under way.
    return { what: "late", ms: Math.floor(this.#random() * 80) };
  }
}
