import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { pause } from "../base/pause.ts";
import type { AppContext } from "./app-env.ts";

const encoder = new TextEncoder();
/** White space before JSON means nothing. */
const SIGN = encoder.encode("\n");

/**
 * A JSON answer that may be long in coming. Nobody tells a server that a caller has hung up until it writes something, so
 * an answer that is not there soon begins with white space, and `isPresent` writes a little more.
 */
export class PatientAnswer<Reply> {
  readonly #asked = Promise.withResolvers<null>();
  readonly #begun = Promise.withResolvers<WritableStreamDefaultWriter<Uint8Array>>();
  #gone = false;

  /** The reply where it comes soon; null when the answer has to begin without it. */
  async soon(reply: Promise<Reply>): Promise<Reply | null> {
    const late = pause(LIMITS.answerBeginsMs).then(() => null);
    return await Promise.race([reply, late, this.#asked.promise]);
  }

  /** Whether the caller is still there. The answer begins for that. */
  async isPresent(): Promise<boolean> {
    this.#asked.resolve(null);
    const writer = await this.#begun.promise;
    writer.write(SIGN).catch(() => (this.#gone = true));
    // As long as a connection that is closed at the other end takes to say so.
    await pause(LIMITS.hangUpMs);
    return !this.#gone;
  }

  /** `body` as soon as it is known; `instead` where that fails, since the status has been said already. */
  begin(context: AppContext, body: Promise<JsonValue>, instead: JsonValue): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    this.#begun.resolve(writer);
    writer.closed.catch(() => (this.#gone = true));
    const finished = body
      .catch((error: unknown) => {
        logError("error", error, { during: "an answer that took long" });
        return instead;
      })
      .then(async (value) => {
        await writer.write(encoder.encode(JSON.stringify(value)));
        await writer.close();
      });
    // Who has hung up reads nothing.
    finished.catch(() => {});
    return context.body(readable, 200, { "Content-Type": "application/json" });
  }
}
