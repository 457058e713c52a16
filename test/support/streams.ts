import { env } from "cloudflare:workers";
import { createApp } from "../../src/http/app.ts";
import type { Env } from "../../src/env.ts";
import type { Body } from "./api.ts";

const app = createApp();

export interface Opening {
  /** The API key; null sends none. */
  apiKey?: string | null;
  /** `Last-Event-ID`. */
  after?: number | string;
  /** With its question mark. */
  query?: string;
  env?: Partial<Env>;
  headers?: Record<string, string>;
}

async function ask(actorId: string, opening: Opening, headers: Record<string, string>) {
  const { apiKey = "dev", after, query = "" } = opening;
  const sent = new Headers({ ...headers, ...opening.headers });
  if (apiKey !== null) sent.set("Authorization", `Bearer ${apiKey}`);
  if (after !== undefined) sent.set("Last-Event-ID", String(after));
  const url = `http://perdure.test/v1/actors/${actorId}/stream${query}`;
  return app.fetch(new Request(url, { headers: sent }), { ...env, ...opening.env });
}

/** Asks for server-sent events; the answer as it is. */
export function askForEvents(actorId: string, opening: Opening = {}): Promise<Response> {
  return ask(actorId, opening, { Accept: "text/event-stream" });
}

export function askForSocket(actorId: string, opening: Opening = {}): Promise<Response> {
  return ask(actorId, opening, { Upgrade: "websocket" });
}

/** A client of server-sent events that reads when it is asked to. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  /** As an EventSource would keep it. */
  lastId: number | null = null;

  constructor(response: Response) {
    if (response.status !== 200 || !response.body) throw new Error(`answered ${response.status}`);
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  static async open(actorId: string, opening: Opening = {}): Promise<EventReader> {
    return new EventReader(await askForEvents(actorId, opening));
  }

  /** The next record; null when the stream has ended. */
  async next(): Promise<Body> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const id = /^id: (\d+)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (id !== undefined) this.lastId = Number(id);
        if (data === undefined) continue;
        const record = JSON.parse(data);
        if (record.seq !== this.lastId) throw new Error(`id ${this.lastId} of ${record.seq}`);
        return record;
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async take(count: number): Promise<number[]> {
    const seqs: number[] = [];
    while (seqs.length < count) seqs.push((await this.next()).seq);
    return seqs;
  }

  async rest(): Promise<number[]> {
    const seqs: number[] = [];
    for (let record = await this.next(); record !== null; record = await this.next()) {
      seqs.push(record.seq);
    }
    return seqs;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** A client's WebSocket that keeps what it is sent. */
export class SocketReader {
  readonly socket: WebSocket;
  readonly texts: string[] = [];
  /** Resolves with code and reason. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #heard = () => {};

  constructor(response: Response) {
    if (!response.webSocket) throw new Error(`answered ${response.status}`);
    this.socket = response.webSocket;
    this.socket.addEventListener("message", ({ data }) => {
      this.texts.push(data as string);
      this.#heard();
    });
    this.closed = new Promise((done) => {
      this.socket.addEventListener("close", ({ code, reason }) => {
        done({ code, reason });
        this.#heard();
      });
    });
    this.socket.accept();
  }

  static async open(actorId: string, opening: Opening = {}): Promise<SocketReader> {
    return new SocketReader(await askForSocket(actorId, opening));
  }

  /** Waits until so many messages have come in all. */
  async until(count: number): Promise<void> {
    while (this.texts.length < count) {
      await new Promise<void>((heard) => (this.#heard = heard));
    }
  }

  seqs(): number[] {
    return this.texts.map((text) => JSON.parse(text).seq);
  }
}

/** The numbers from `first` to `last`. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
