// A WebSocket to an object can only be had by a request, so what belongs to the call travels in headers of it.

const QUERY_HEADER = "Perdure-Stream";
const AFTER_HEADER = "Perdure-After";

/** What is used of a WebSocket of the Workers runtime, whose own type is not everywhere this is read. */
export interface Socket {
  accept(): void;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message" | "close" | "error", listener: (event: object) => void): void;
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
