import { setTimeout as sleep } from "node:timers/promises";
import type { Ask, Line, Reply } from "./line.ts";
import type { Observed } from "./observed.ts";

/** ms between attempts of a request that the server cannot answer now, and attempts. */
const AGAIN_MS = 50;
const ATTEMPTS = 200;

/** How a client speaks to the server: all it hears is noted, and what is refused for the moment is sent again. */
export class Voice {
  readonly #line: Line;
  readonly #observed: Observed;

  constructor(line: Line, observed: Observed) {
    this.#line = line;
    this.#observed = observed;
  }

  async say(
    kind: string,
    method: string,
    path: string,
    ask: Ask = {},
    expected: readonly string[] = [],
  ): Promise<Reply> {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await this.#line.ask(method, path, ask);
      this.#observed.note(kind, method, path, reply, expected);
      if (![429, 503].includes(reply.status) || attempt === ATTEMPTS) return reply;
      await sleep(AGAIN_MS);
    }
  }
}
