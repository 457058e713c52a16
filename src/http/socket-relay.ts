import { ENDINGS, socketPair } from "../base/stream-call.ts";
import type { Socket } from "../base/stream-call.ts";

const OPEN = 1;

/**
 * The client's end of a WebSocket to an actor, which passes through here. Handed over as it is, workerd would leave its
 * connection open after its end until the object sleeps, which a busy one does not; and nobody would end an idle one in time.
 * `until` is ms since 1970.
 */
export function relaySocket(actor: Socket, until: number): Socket {
  const { 0: client, 1: ours } = socketPair();
  const end = (code: number, reason: string) => {
    clearTimeout(life);
    if (ours.readyState === OPEN) ours.close(code, reason);
    actor.close(1000);
  };
  const life = setTimeout(() => end(...ENDINGS.resume), Math.max(0, until - Date.now()));

  actor.addEventListener("message", (event) => {
    if (ours.readyState === OPEN) ours.send((event as { data: string }).data);
  });
  actor.addEventListener("close", (event) => {
    const { code, reason } = event as { code: number; reason: string };
    const ending = Object.values(ENDINGS).find(([known]) => known === code);
    // A code such as 1006 says that there was no close frame, so it cannot stand in one.
    end(...(ending ? ([code, reason] as const) : ENDINGS.failed));
  });
  actor.addEventListener("error", () => end(...ENDINGS.failed));
  ours.addEventListener("message", (event) =>
    actor.send((event as { data: string | ArrayBuffer }).data),
  );
  ours.addEventListener("close", () => end(1000, ""));
  ours.addEventListener("error", () => end(1000, ""));
  ours.accept();
  actor.accept();
  return client;
}
