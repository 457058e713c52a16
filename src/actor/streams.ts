import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { othersTurn } from "../base/pause.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { isFinished } from "../lifecycle/actor.ts";
import { recordView } from "../lifecycle/record.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { readRows } from "../storage/actor-log.ts";
import type { Observer } from "./observer.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import { end, isOpen, keepState, stateOf } from "./stream-socket.ts";
import type { StreamState } from "./stream-socket.ts";

/** The hibernatable WebSockets of an object. They stay when everything in memory goes. */
interface Sockets {
  accept(socket: WebSocket): void;
  all(): WebSocket[];
}

/** A grant is the number of characters read. */
const GRANT = /^\d{1,9}$/;

/**
 * Who listens to an actor.
 *
 * S1  What a socket was sent is in its attachment, nowhere else: an object that woke goes on from there.
 * S2  A socket is sent the record after the last one it was sent, or nothing.
 * S3  Records come from a commit when they are the next ones, else from the log, by pages, until there is no next one.
 * S4  Nothing waits in memory: who has no credit left is sent nothing until the reader gives some.
 */
export class Streams implements Observer {
  readonly #resident: Resident;
  readonly #sockets: Sockets;
  /** Those that are being sent pages of the log. */
  readonly #reading = new Set<WebSocket>();

  constructor(resident: Resident, sockets: Sockets) {
    this.#resident = resident;
    this.#sockets = sockets;
  }

  /** Whether one more would be too many; those whose time is up are ended first. */
  full(): boolean {
    let count = 0;
    for (const socket of this.#sockets.all()) {
      const state = stateOf(socket);
      if (state === null) continue;
      if (state.until <= Date.now()) end(socket, "resume");
      else count += 1;
    }
    return count >= LIMITS.streamsPerActor;
  }

  /** Begins a stream on the server's end of a pair. */
  begin(socket: WebSocket, state: StreamState): void {
    this.#sockets.accept(socket);
    keepState(socket, state);
    this.#read(socket);
  }

  committed(_: Actor | null, after: Actor | null, records: readonly LogRecord[]): void {
    const sockets = this.#sockets.all();
    if (sockets.length === 0) return;
    const texts: string[] = [];
    for (const socket of sockets) {
      const state = stateOf(socket);
      if (state === null) continue;
      if (after?.envelope.uid !== state.uid) end(socket, "deleted");
      else if (records[0]?.seq !== state.sent + 1) this.#read(socket);
      else if (!this.#reading.has(socket)) {
        if (texts.length === 0) for (const record of records) texts.push(textOf(record));
        guarded(socket, () => this.#send(socket, state, after, texts));
      }
    }
  }

  /** A reader's message: a grant where there are grants, else an end. */
  async heard(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const state = stateOf(socket);
    if (state === null) return;
    if (!state.granted || typeof message !== "string" || !GRANT.test(message)) {
      end(socket, "spoken");
      return;
    }
    const credit = Math.min(state.credit + Number(message), LIMITS.streamWindow);
    keepState(socket, { ...state, credit });
    try {
      await this.#resident.load();
      this.#read(socket);
    } catch (error) {
      failed(socket, error);
    }
  }

  /** Sends what the log has beyond the last record sent, unless that is under way. */
  #read(socket: WebSocket): void {
    if (!this.#reading.has(socket)) void this.#readAll(socket);
  }

  async #readAll(socket: WebSocket): Promise<void> {
    this.#reading.add(socket);
    // Between pages others have their turn; what they commit is in the log when it is read next.
    while (guarded(socket, () => this.#sendPage(socket))) {
      await othersTurn();
    }
    this.#reading.delete(socket);
  }

  /** False when there is no more to send for now. */
  #sendPage(socket: WebSocket): boolean {
    const state = stateOf(socket);
    const { actor, db } = this.#resident;
    if (state === null || state.credit <= 0) return false;
    if (actor === null || actor.envelope.uid !== state.uid) {
      end(socket, "deleted");
      return false;
    }
    const rows = readRows(db, {
      after: state.sent,
      through: actor.envelope.seq,
      kind: null,
      limit: LIMITS.pageMost,
      chars: Math.min(state.credit, LIMITS.streamWindow),
    });
    return this.#send(
      socket,
      state,
      actor,
      rows.map((row) => textOf(recordOf(row))),
    );
  }

  /** Sends the records that follow the last one sent, as far as credit goes. True when more could be sent. */
  #send(socket: WebSocket, before: StreamState, actor: Actor, texts: readonly string[]): boolean {
    if (before.until <= Date.now()) {
      end(socket, "resume");
      return false;
    }
    let { sent, credit } = before;
    for (const text of texts) {
      if (credit <= 0) break;
      socket.send(text);
      sent += 1;
      credit -= text.length;
    }
    keepState(socket, { ...before, sent, credit });
    const { envelope } = actor;
    if (sent === envelope.seq) {
      if (isFinished(envelope)) end(socket, "finished");
      return false;
    }
    if (credit <= 0 && !before.granted) end(socket, "resume");
    return credit > 0 && isOpen(socket);
  }
}

function textOf(record: LogRecord): string {
  return JSON.stringify(recordView(record));
}

/** A stream that failed is ended, and disturbs nobody else: its client goes on where it was. */
function guarded(socket: WebSocket, send: () => boolean): boolean {
  try {
    return send();
  } catch (error) {
    failed(socket, error);
    return false;
  }
}

function failed(socket: WebSocket, error: unknown): void {
  logError("error", error, { place: "stream" });
  end(socket, "failed");
}
