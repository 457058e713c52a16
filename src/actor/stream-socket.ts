/** What a WebSocket carries through its object's sleep: all there is to know about a stream. */
export interface StreamState {
  /** The incarnation that it shows. */
  uid: string;
  /** The last record sent. */
  sent: number;
  /** Characters that may still be sent; below 0 by at most one record. */
  credit: number;
  /** Whether the reader gives new credit. */
  granted: boolean;
  /** ms since 1970. */
  until: number;
}

/** Why the actor's side ends a stream: RFC 6455's codes, and of the private ones that which reminds of 410. */
export const ENDINGS = {
  finished: [1000, "finished"],
  deleted: [4410, "deleted"],
  /** Its time or its characters are used up. */
  resume: [1013, "resume after the last record"],
  spoken: [1003, "this stream takes no messages"],
  failed: [1011, "failed"],
} as const;
export type Ending = keyof typeof ENDINGS;

const OPEN = 1;

export function isOpen(socket: WebSocket): boolean {
  return socket.readyState === OPEN;
}

/** Null when the stream is over. */
export function stateOf(socket: WebSocket): StreamState | null {
  return isOpen(socket) ? (socket.deserializeAttachment() as StreamState | null) : null;
}

export function keepState(socket: WebSocket, state: StreamState): void {
  socket.serializeAttachment(state);
}

export function end(socket: WebSocket, ending: Ending): void {
  if (!isOpen(socket)) return;
  const [code, reason] = ENDINGS[ending];
  socket.close(code, reason);
}
