import { EventStreamParser } from "../../src/sdk/event-stream.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { LogRecord } from "../../src/sdk/index.ts";

/** Where a client is, and what it was given, over all of its connections. */
export interface Seen {
  kind: string;
  records: LogRecord[];
  connections: number;
}

/** ms until a connection is cut, again and again; drawn anew for each. */
export type Patience = () => number;

const KEY = { Authorization: "Bearer dev" };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads to the actor's end as an EventSource would, cut off again and again. */
export async function byEvents(url: string, id: string, patience: Patience): Promise<Seen> {
  const seen: Seen = { kind: "events", records: [], connections: 0 };
  let lastId = "0";
  for (; seen.connections < 5000; seen.connections += 1) {
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), patience());
    try {
      const response = await fetch(`${url}/v1/actors/${id}/stream`, {
        headers: { ...KEY, Accept: "text/event-stream", "Last-Event-ID": lastId },
        signal: cut.signal,
      });
      if (response.status === 204) return seen;
      if (response.status !== 200) throw new Error(`answered ${response.status}`);
      const parser = new EventStreamParser();
      const decoder = new TextDecoder();
      for await (const piece of response.body as ReadableStream<Uint8Array>) {
        for (const event of parser.push(decoder.decode(piece, { stream: true }))) {
          lastId = event.id;
          if (event.data !== null) seen.records.push(JSON.parse(event.data));
        }
      }
    } catch {
      await pause(5);
    } finally {
      clearTimeout(timer);
    }
  }
  throw new Error("It never ended");
}

/** Reads to the actor's end by WebSockets that a token opens. */
export async function bySocket(url: string, id: string, patience: Patience): Promise<Seen> {
  const seen: Seen = { kind: "socket", records: [], connections: 0 };
  for (; seen.connections < 5000; seen.connections += 1) {
    const end = await oneSocket(url, id, seen, patience()).catch(() => "failed");
    if (end === "finished") return seen;
    await pause(5);
  }
  throw new Error("It never ended");
}

async function oneSocket(url: string, id: string, seen: Seen, ms: number): Promise<string> {
  const path = `${url}/v1/actors/${id}/stream`;
  const answer = await fetch(`${path}-token`, { method: "POST", headers: KEY });
  const { token } = (await answer.json()) as { token: string };
  const last = seen.records.at(-1)?.seq ?? 0;
  const address = `${path.replace("http", "ws")}?token=${token}&lastEventId=${last}`;
  const socket = new WebSocket(address);
  let open = true;
  return await new Promise((ended) => {
    const end = (reason: string) => {
      open = false;
      clearTimeout(timer);
      socket.close();
      ended(reason);
    };
    // Who was told the end waits for it.
    const cut = () => socket.readyState !== WebSocket.CLOSING && end("cut");
    const timer = setTimeout(cut, ms);
    // What arrives after the cut did not arrive.
    socket.addEventListener("message", ({ data }) => open && seen.records.push(JSON.parse(data)));
    socket.addEventListener("close", ({ reason }) => end(reason));
    socket.addEventListener("error", () => end("error"));
  });
}

/** Reads to the actor's end by one subscription over a network that cuts its connections. */
export async function bySubscription(url: string, id: string, patience: Patience): Promise<Seen> {
  const seen: Seen = { kind: "subscription", records: [], connections: 0 };
  const client = createClient({
    baseUrl: url,
    apiKey: "dev",
    retry: { attempts: 100, baseMs: 20, maxMs: 500 },
    fetch: (address, init) => {
      seen.connections += 1;
      const signal = AbortSignal.any([init.signal, AbortSignal.timeout(Math.ceil(patience()))]);
      return fetch(address, { ...init, signal });
    },
  });
  for await (const record of client.subscribe(id, { after: 0 })) seen.records.push(record);
  return seen;
}
