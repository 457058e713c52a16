import { ENDINGS } from "../base/stream-call.ts";
import type { Ending } from "../base/stream-call.ts";

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
