import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A request that reached a service. */
export interface Reached {
  method: string;
  path: string;
  key: string | null;
  headers: Record<string, string>;
  body: string;
  at: number;
  /** Whether the caller hung up before it was answered. */
  gone: boolean;
}

export type Behaviour = (request: Reached, response: ServerResponse, nth: number) => unknown;

/** Services at `/<name>…` of one real server on loopback. It is not part of what is killed. */
export class Outside {
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #reached = new Map<string, Reached[]>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A service of that name; its address. */
  service(name: string, behave: Behaviour): string {
    this.#behaviours.set(name, behave);
    return `${this.origin}/${name}`;
  }

  /** What reached a service so far, in order. */
  reached(name: string): readonly Reached[] {
    return this.#reached.get(name) ?? [];
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = request;
    const name = path.split(/[/?]/)[1] ?? "";
    const headers = request.headers as Record<string, string>;
    const key = headers["idempotency-key"] ?? null;
    let body = "";
    try {
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
    } catch {
      // It hung up while it was still asking.
      return;
    }
    const reached = { method, path, key, headers, body, at: Date.now(), gone: false };
    response.on("close", () => (reached.gone = !response.writableEnded));
    const before = this.#reached.get(name) ?? [];
    this.#reached.set(name, [...before, reached]);
    const behave = this.#behaviours.get(name);
    if (behave === undefined) response.writeHead(404).end();
    else await behave(reached, response, before.length + 1);
  }
}

/** Answers JSON. */
export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}
