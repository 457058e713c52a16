import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { SERVICES } from "./services.ts";
import type { Body, Reply } from "./services.ts";

/** One request as it came. */
export interface Call {
  service: string;
  key: string;
  /** The bytes of the body, and what they say. */
  text: string;
  body: Body;
}

/** What a key has done: once, however often it came. */
export interface Effect extends Call {
  reply: Reply;
}

/**
 * The memory of a service that honours keys. The first request with a key acts, its reply is kept, and every further
 * request with that key gets the same reply. With a file, a line per effect, it remembers across its own restarts.
 */
export class Receiver {
  readonly #effects = new Map<string, Effect>();
  readonly #calls = new Map<string, number>();
  readonly #file: string | null;

  constructor(file: string | null) {
    this.#file = file;
    if (file === null || !existsSync(file)) return;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const effect = JSON.parse(line) as Effect;
      this.#effects.set(effect.key, effect);
    }
  }

  /** Counts a request, whatever becomes of it. */
  count({ key }: Call): void {
    this.#calls.set(key, this.callsOf(key) + 1);
  }

  /** Requests that came with a key since this process started. */
  callsOf(key: string): number {
    return this.#calls.get(key) ?? 0;
  }

  /** All requests since this process started. */
  get calls(): number {
    return [...this.#calls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** In the order in which they happened. */
  get effects(): Effect[] {
    return [...this.#effects.values()];
  }

  act({ service, key, text, body }: Call): Reply {
    const known = this.#effects.get(key);
    if (known !== undefined) {
      if (known.service === service && known.text === text) return known.reply;
      return { status: 422, body: { code: "key_reused", message: "this key did something else" } };
    }
    const reply = SERVICES[service]?.(body, key) ?? { status: 404, body: { code: "no_service" } };
    // A refusal changed nothing, so it may be asked again with the same key.
    if (reply.status >= 300) return reply;
    const effect = { service, key, text, body, reply };
    if (this.#file !== null) appendFileSync(this.#file, `${JSON.stringify(effect)}\n`);
    this.#effects.set(key, effect);
    return reply;
  }
}
