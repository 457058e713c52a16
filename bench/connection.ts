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

/** The server closed the connection before the first byte of an answer. */
class Unanswered extends Error {}

/** A server that starves its sockets for many seconds closes the new connection as well. */
const SENT_MOST = 5;

/**
 * A client's keep-alive connection. workerd closes one that it takes for idle, and when it was busy
 * for seconds, it may do so with a request already there; as any HTTP client, this one sends such a
 * request again on a new connection. Events have keys, so they act once.
 */
export class Connection {
  /** How often that happened. */
  resent = 0;
  readonly #url: string;
  #wire: Wire;
  #closed = false;

  private constructor(url: string, wire: Wire) {
    this.#url = url;
    this.#wire = wire;
  }

  static async open(url: string): Promise<Connection> {
    return new Connection(url, await Wire.open(url));
  }

  async request(bytes: WireRequest): Promise<Answer> {
    for (let sent = 1; ; sent += 1) {
      try {
        return await this.#wire.request(bytes);
      } catch (error) {
        if (this.#closed || sent === SENT_MOST || !(error instanceof Unanswered)) throw error;
        this.resent += 1;
        this.#wire = await Wire.open(this.#url);
      }
    }
  }

  close(): void {
    this.#closed = true;
    this.#wire.close();
  }
}

/**
 * One socket with one request under way at a time: just enough HTTP for answers that say their
 * length. Node's own client costs several times as much, on cores the server needs.
 */
class Wire {
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

  static open(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Wire(socket));
      });
    });
  }

  request(bytes: WireRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#pending) return reject(new Error("This connection has a request under way."));
      if (this.#socket.destroyed) return reject(new Unanswered("The connection was closed."));
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
    this.#socket.destroy();
    if (pending === null) return;
    const waited = (performance.now() - pending.sentAt).toFixed(0);
    const message = `No answer after ${waited} ms: ${error.message}`;
    const nothingCame = this.#received === null;
    pending.reject(nothingCame ? new Unanswered(message) : new Error(message));
  }
}
