import { setTimeout as sleep } from "node:timers/promises";
import { ERRORS } from "../../../src/base/errors.ts";
import type { Answered, Server } from "../crash/server.ts";

/** What an answer of a failure says. */
interface Refusal {
  status: number;
  code: string;
}

/** A caller who repeats, with the same key, what was not answered for good, and looks at how it was refused. */
export class Client implements Server {
  readonly #url: string;
  readonly #key: string;
  readonly #ends: AbortSignal;
  /** Answers that are none of ours. */
  readonly strange: string[] = [];
  /** `500`s among the answers. */
  readonly internal: string[] = [];
  #last = "";

  /** After `ends` nothing is repeated any more. */
  constructor(url: string, key: string, ends: AbortSignal) {
    this.#url = url;
    this.#key = key;
    this.#ends = ends;
  }

  async call(method: string, path: string, key: string, body?: object): Promise<Answered> {
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      "Idempotency-Key": key,
      "Content-Type": "application/json",
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    for (;;) {
      const answered = await this.#once(`${method} ${path}`, path, init);
      if (answered !== null) return answered;
      if (this.#ends.aborted) throw new Error(`${method} ${path} has no answer: ${this.#last}`);
      await sleep(50);
    }
  }

  async #once(what: string, path: string, init: RequestInit): Promise<Answered | null> {
    const answer = await this.#ask(path, init);
    if (answer === null) return null;
    const { response, text } = answer;
    const body = text === "" ? {} : JSON.parse(text);
    const { status } = response;
    if (status < 400) return { status, body };
    this.#last = text;
    if (!isOurs({ status, code: body.code })) this.strange.push(`${what}: ${status} ${text}`);
    if (status === 500) this.internal.push(`${what}: ${text}`);
    return body.retryable === true ? null : { status, body };
  }

  /** Null without an answer: a connection that lay idle may be closed by the server as it is used again. */
  async #ask(
    path: string,
    init: RequestInit,
  ): Promise<{ response: Response; text: string } | null> {
    try {
      const response = await fetch(`${this.#url}${path}`, { ...init, signal: this.#ends });
      return { response, text: await response.text() };
    } catch (error) {
      this.#last = String((error as Error).cause ?? error);
      return null;
    }
  }
}

function isOurs({ status, code }: Refusal): boolean {
  return Object.hasOwn(ERRORS, code) && ERRORS[code as keyof typeof ERRORS].status === status;
}
