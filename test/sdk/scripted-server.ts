import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Heard {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What the server does with one request. */
export type Act = (response: ServerResponse, heard: Heard) => void;

export const answer =
  (status: number, body: unknown, headers: { [name: string]: string } = {}): Act =>
  (response) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  };

export const problem = (
  status: number,
  code: string,
  members: object = {},
  headers: { [name: string]: string } = {},
) =>
  answer(
    status,
    {
      type: `urn:perdure:${code}`,
      title: code,
      status,
      detail: `It is ${code}.`,
      code,
      ...members,
    },
    { "content-type": "application/problem+json", ...headers },
  );

export const unavailable = problem(503, "unavailable", { retryable: true });

/** Cuts the connection without a word. */
export const drop: Act = (response) => response.destroy();

/** Cuts the connection in the middle of the body. */
export const truncate: Act = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"actorId":"a');
  setTimeout(() => response.destroy(), 20);
};

/** Never answers; the connection stays open. */
export const hang: Act = () => {};

/**
 * A real HTTP server on a free port that acts as scripted, one entry per request, the last one
 * again for all that follow. Closed when the test ends.
 */
export async function scriptedServer(...script: [Act, ...Act[]]) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const act = script[Math.min(heard.length, script.length - 1)] as Act;
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body };
      heard.push(one);
      act(response, one);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, heard };
}

/** A port that nobody listens on. */
export async function deafAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}
