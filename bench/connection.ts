import { connect } from "node:net";
import type { Socket } from "node:net";

export interface Answer {
  status: number;
  body: string;
}

/** A request as bytes on the wire, ASCII, with `Connection: keep-alive` implied by HTTP/1.1. */
export type WireRequest = string;

export function wireRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): WireRequest {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === "" ? "" : `Content-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: bench\r\n${lines.join("")}${length}\r\n${body}`;
}

interface Pending {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  sentAt: number;
}

/**
 * One keep-alive connection with one request under way at a time: just enough HTTP for answers that
 * say their length. Node's own client costs several times as much, on cores the server needs.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer | null = null;
  #pending: Pending | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  static open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  request(bytes: WireRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#pending) return reject(new Error("This connection has a request under way."));
      this.#pending = { resolve, reject, sentAt: performance.now() };
      this.#socket.write(bytes, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const received = this.#received === null ? chunk : Buffer.concat([this.#received, chunk]);
    this.#received = received;
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = received.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) return this.#fail(new Error(`An answer without its length: ${head}`));
    const end = headEnd + 4 + Number(length);
    if (received.length < end) return;
    this.#received = received.length === end ? null : received.subarray(end);
    const pending = this.#pending;
    this.#pending = null;
    const status = Number(head.slice(9, 12));
    pending?.resolve({ status, body: received.toString("utf8", headEnd + 4, end) });
  }

  #fail(error: Error): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending === null) return;
    const waited = (performance.now() - pending.sentAt).toFixed(0);
    pending.reject(new Error(`No answer after ${waited} ms: ${error.message}`, { cause: error }));
    this.#socket.destroy();
  }
}
