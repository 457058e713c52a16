import { createServer } from "node:http";
import type { Server } from "node:http";

/**
 * The address is in the archives, so it never changes. Below the ports that systems give away by
 * themselves, so that it is free unless another run of the same is under way.
 */
export const OUTSIDE = "http://127.0.0.1:23871";
const PORT = 23_871;
const PATIENCE_MS = 120_000;

export interface Outside {
  /** `Idempotency-Key` of each call, unquoted. */
  calls: string[];
  /** `webhook-id` of each message. */
  messages: string[];
  close(): Promise<void>;
}

/**
 * The services and the receiver of webhooks that old actors know. One that is not `willing` is as they were
 * when the archives were written: `/later` is out of order, `/no` refuses, and no webhook is taken.
 */
export async function openOutside(willing: boolean): Promise<Outside> {
  const calls: string[] = [];
  const messages: string[] = [];
  const server = createServer((request, response) => {
    const { headers, url = "" } = request;
    const { "idempotency-key": key, "webhook-id": message } = headers;
    if (typeof key === "string") calls.push(key.replaceAll('"', ""));
    if (typeof message === "string") messages.push(message);
    request.resume().once("end", () => {
      response.statusCode = willing ? 200 : statusOf(url);
      response.setHeader("Content-Type", "application/json").end('{"done":true}');
    });
  });
  const end = Date.now() + PATIENCE_MS;
  while (!(await listens(server))) {
    if (Date.now() > end) throw new Error(`Port ${PORT} is in use.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    calls,
    messages,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function statusOf(url: string): number {
  if (url.startsWith("/no")) return 404;
  return /^\/(later|hook)/.test(url) ? 503 : 200;
}

async function listens(server: Server): Promise<boolean> {
  return new Promise((done, failed) => {
    const settle = (error?: NodeJS.ErrnoException) => {
      server.off("error", settle).off("listening", settle);
      if (error && error.code !== "EADDRINUSE") failed(error);
      else done(error === undefined);
    };
    server.once("error", settle).once("listening", settle).listen(PORT, "127.0.0.1");
  });
}
