// A WebSocket to an object can only be had by a request, so what belongs to the call travels in headers of it.

const QUERY_HEADER = "Perdure-Stream";
const AFTER_HEADER = "Perdure-After";

/** What is used of a WebSocket of the Workers runtime, whose own type is not everywhere this is read. */
export interface Socket {
  readonly readyState: number;
  accept(): void;
  send(data: string | ArrayBuffer): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message" | "close" | "error", listener: (event: object) => void): void;
}

/** Why a stream is ended by our side: RFC 6455's codes, and of the private ones that which reminds of 410. */
export const ENDINGS = {
  finished: [1000, "finished"],
  deleted: [4410, "deleted"],
  /** Its time or its characters are used up. */
  resume: [1013, "resume after the last record"],
  spoken: [1003, "this stream takes no messages"],
  failed: [1011, "failed"],
} as const;
export type Ending = keyof typeof ENDINGS;

/** Both ends of a new WebSocket. */
export function socketPair(): { 0: Socket; 1: Socket } {
  const runtime = globalThis as unknown as { WebSocketPair: new () => { 0: Socket; 1: Socket } };
  return new runtime.WebSocketPair();
}

export function streamRequest(query: object): Request {
  const headers = {
    Upgrade: "websocket",
    [QUERY_HEADER]: encodeURIComponent(JSON.stringify(query)),
  };
  return new Request("https://object/stream", { headers });
}

export function streamQuery<Query>(request: Request): Query {
  return JSON.parse(decodeURIComponent(request.headers.get(QUERY_HEADER) ?? "")) as Query;
}

/** An answer that hands a WebSocket over. */
export function switchingTo(webSocket: Socket, headers: Record<string, string>): Response {
  const init: object = { status: 101, headers, webSocket };
  return new Response(null, init);
}

/** The answer that opens a stream; `after` is the seq that its first record follows. */
export function streamOpened(webSocket: Socket, after: number): Response {
  return switchingTo(webSocket, { [AFTER_HEADER]: String(after) });
}

/** What an answer opened; null when it is none that did. */
export function openedStream(response: Response): { socket: Socket; after: number } | null {
  const { webSocket } = response as { webSocket?: Socket | null };
  if (!webSocket) return null;
  return { socket: webSocket, after: Number(response.headers.get(AFTER_HEADER)) };
}
