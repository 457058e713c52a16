import { Agent, request as begin } from "node:http";

export interface Reply {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
  body: any;
  /** By `performance.now()`, ms: when it was sent the last time, and answered. */
  sentAt: number;
  answeredAt: number;
}

export interface Ask {
  key?: string;
  ifMatch?: number;
  body?: object;
}

/** One client's connection, kept as clients of a service do, with one request under way at a time. */
export class Line {
  /** Requests that the server left without a byte of an answer, as it may where it takes a connection for idle. */
  resent = 0;
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async ask(method: string, path: string, { key, ifMatch, body }: Ask = {}): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      Authorization: "Bearer dev",
      ...(key !== undefined && { "Idempotency-Key": key }),
      ...(ifMatch !== undefined && { "If-Match": `"${ifMatch}"` }),
      ...(text !== undefined && {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
      }),
    };
    try {
      return await this.#once(method, path, headers, text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
      this.resent += 1;
      return await this.#once(method, path, headers, text);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #once(
    method: string,
    path: string,
    headers: Record<string, string | number>,
    text: string | undefined,
  ): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const { hostname, port } = this.#url;
    const sentAt = performance.now();
    const asked = begin(
      { agent: this.#agent, hostname, port, method, path, headers },
      (response) => {
        let said = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
        response.on("error", reject).on("end", () => {
          const body = said === "" ? {} : JSON.parse(said);
          const answeredAt = performance.now();
          resolve({ status: response.statusCode ?? 0, body, sentAt, answeredAt });
        });
      },
    );
    asked.on("error", reject).end(text);
    return promise;
  }
}
