import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../../../scripts/server.ts";
import type { RunningServer } from "../../../scripts/server.ts";
import type { History } from "./history.ts";
import type { Answered, Server } from "./server.ts";

/** A server that dies again and again, without a warning and at any moment, and always comes back on its data. */
export class Mortal implements Server {
  readonly #persistTo: string;
  readonly #history: History;
  #server: RunningServer | null = null;
  /** Why the last request had no answer. */
  #failure = "";

  constructor(persistTo: string, history: History) {
    this.#persistTo = persistTo;
    this.#history = history;
  }

  /** Where it is now; nowhere while it is dead. */
  get url(): string | null {
    return this.#server?.url ?? null;
  }

  async start(): Promise<void> {
    this.#server = await startServer({ persistTo: this.#persistTo });
    this.#history.note("started");
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const said = server?.said() ?? "";
    this.#history.note("killed", said === "" ? {} : { said });
    await server?.kill("SIGKILL");
  }

  /** One request, repeated until it is answered for good: a death, and a 503, are no answer. */
  async call(method: string, path: string, key: string, body?: object): Promise<Answered> {
    const headers = {
      Authorization: "Bearer dev",
      "Idempotency-Key": key,
      "Content-Type": "application/json",
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    let last = "";
    for (let attempt = 1; attempt <= 3_000; attempt += 1) {
      const answered = await this.#once(path, init);
      last = answered === null ? this.#failure : JSON.stringify(answered);
      if (answered !== null && answered.status !== 503) return answered;
      await sleep(20);
    }
    throw new Error(`${method} ${path} was never answered: ${last}`);
  }

  async #once(path: string, init: RequestInit): Promise<Answered | null> {
    if (this.url === null) return null;
    try {
      const response = await fetch(`${this.url}${path}`, init);
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
    } catch (error) {
      this.#failure = String((error as Error).cause ?? error);
      return null;
    }
  }
}
