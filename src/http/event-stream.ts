import { LIMITS } from "../base/limits.ts";
import type { Socket } from "../base/stream-call.ts";

const encoder = new TextEncoder();
const SEQ = /^\{"seq":(\d+),/;
/** Characters read after which the actor may send as many more: often enough that it never waits for a fast reader. */
const GRANT = LIMITS.streamWindow / 4;

/**
 * A stream's WebSocket as server-sent events. What is read by the client is granted to the actor again, so no more than
 * the window is ever held here. `until` is ms since 1970.
 */
export function eventStream(
  socket: Socket,
  after: number,
  until: number,
): ReadableStream<Uint8Array> {
  // An id without data: a client that is cut off before the first record comes back with it.
  const waiting = [`id: ${after}\n\n`];
  let read = 0;
  let ended = false;
  let wake = () => {};

  const finish = () => {
    ended = true;
    clearInterval(heartbeat);
    clearTimeout(life);
    wake();
  };
  const heartbeat = setInterval(() => {
    // Only who is waiting for something needs a sign of life.
    if (waiting.length === 0) waiting.push(":\n\n");
    wake();
  }, LIMITS.streamHeartbeatMs);
  const life = setTimeout(
    () => {
      finish();
      socket.close(1000);
    },
    Math.max(0, until - Date.now()),
  );

  socket.addEventListener("message", (event) => {
    waiting.push((event as { data: string }).data);
    wake();
  });
  socket.addEventListener("close", finish);
  socket.addEventListener("error", finish);
  socket.accept();

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (waiting.length === 0 && !ended) {
          await new Promise<void>((woken) => (wake = woken));
        }
        if (waiting.length === 0) {
          controller.close();
          return;
        }
        let events = "";
        for (const text of waiting.splice(0)) {
          const seq = SEQ.exec(text)?.[1];
          if (seq !== undefined) read += text.length;
          events += seq === undefined ? text : `id: ${seq}\ndata: ${text}\n\n`;
        }
        controller.enqueue(encoder.encode(events));
        if (read < GRANT || ended) return;
        socket.send(String(read));
        read = 0;
      },
      cancel() {
        finish();
        socket.close(1000);
      },
    },
    { highWaterMark: 0 },
  );
}
