import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { LIMITS } from "../../../src/base/limits.ts";

/** A request as it goes over the wire; nothing in it is mended on its way. */
export interface Sent {
  method: string;
  /** With the query. */
  path: string;
  headers: { [name: string]: string | string[] };
  body: Uint8Array | null;
}

export interface Answer {
  status: number;
  mediaType: string | null;
  text: string;
}

/** What the caller does about one that has no answer yet. */
export type Patience = "until it is a hang" | "not long";

/** ms. Nothing that a busy machine does takes as long; a busy one may be ten times slower than a free one. */
const HANG_MS = 30_000;
const NOT_LONG_MS = 1_000;

/** No answer in time, or none at all. */
export class Unanswered extends Error {}

export class Connections {
  readonly #agent = new Agent({ keepAlive: false });

  close(): void {
    this.#agent.destroy();
  }

  /** The answer; null where the caller has hung up after a while, or the server on one who sends too much. */
  async send(url: string, sent: Sent, patience: Patience): Promise<Answer | null> {
    const { hostname, port } = new URL(url);
    const { method, path, headers, body } = sent;
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, hostname, port, method, path, headers });
      const timer = setTimeout(
        () => {
          outgoing.destroy();
          if (patience === "not long") resolve(null);
          else reject(new Unanswered(`no answer in ${HANG_MS} ms`));
        },
        patience === "not long" ? NOT_LONG_MS : HANG_MS,
      );
      const end = (act: () => void) => {
        clearTimeout(timer);
        act();
      };
      outgoing.once("error", (error: NodeJS.ErrnoException) =>
        end(() => (wasCutOff(error, body) ? resolve(null) : reject(error))),
      );
      outgoing.once("upgrade", (response, socket) => {
        socket.destroy();
        end(() => resolve(answerOf(response, "")));
      });
      outgoing.once("response", (response) => {
        const mediaType = response.headers["content-type"] ?? "";
        if (mediaType.startsWith("text/event-stream")) {
          outgoing.destroy();
          end(() => resolve(answerOf(response, "")));
          return;
        }
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.once("end", () => end(() => resolve(answerOf(response, text))));
        response.once("error", (error) => end(() => reject(error)));
      });
      outgoing.end(body ?? undefined);
    });
  }
}

/** A server that says 413 need not listen to the rest, and a client that still sends may miss what it said. */
function wasCutOff({ code }: NodeJS.ErrnoException, body: Uint8Array | null): boolean {
  const isTooLarge = body !== null && body.byteLength > LIMITS.bodyBytes;
  return isTooLarge && (code === "ECONNRESET" || code === "EPIPE");
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, text: string): Answer {
  return { status: statusCode, mediaType: headers["content-type"] ?? null, text };
}
