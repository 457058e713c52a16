import { describeFailure, readAnswer } from "./answer.ts";
import { PerdureError } from "./errors.ts";
import type { FailedCall } from "./errors.ts";
import { aborted, noAnswer, timedOut } from "./no-answer.ts";
import type { Fetch } from "./transport.ts";

/** An answer that is read while it comes. */
export interface ByteReader {
  /** The next bytes; null at the end. Rejects when none come for `silenceMs`. */
  read(silenceMs: number): Promise<Uint8Array | null>;
  /** Lets go of the connection. */
  cancel(): void;
}

/** A GET as a transport has made it ready. */
interface StreamRequest {
  told: FailedCall;
  url: string;
  init: { method: string; headers: { [name: string]: string }; body?: string };
  /** ms until the answer begins. */
  timeoutMs: number;
  fetch: Fetch;
  /** The transport's T4. */
  withoutSecret(text: string, status?: number): string;
}

/** One attempt of a GET; null when the server says that there is nothing (204). `signal` ends it at any time. */
export async function openStream(
  request: StreamRequest,
  signal: AbortSignal,
): Promise<ByteReader | null> {
  const { told, url, init, timeoutMs, fetch } = request;
  const connection = new AbortController();
  const end = () => connection.abort();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  const cancel = () => {
    signal.removeEventListener("abort", end);
    end();
  };
  try {
    const sent = { ...init, signal: connection.signal, redirect: "manual" } as const;
    const response = await within(timeoutMs, connection, request, () => fetch(url, sent));
    const { status, body } = response;
    const header = (name: string) => response.headers.get(name);
    const isStream = status === 200 && header("content-type")?.startsWith("text/event-stream");
    if (!isStream || !body) {
      const text = await within(timeoutMs, connection, request, () => response.text());
      readAnswer(told, { status, header, text: request.withoutSecret(text, status) });
      if (status === 204) {
        cancel();
        return null;
      }
      const detail = "The answer is no event stream, or fetch gives no body to read it from.";
      const code = "unexpected_answer";
      throw new PerdureError(told, { status, code, detail, retryable: false });
    }
    const reader = body.getReader();
    return {
      read: async (silenceMs) => {
        const { done, value } = await within(silenceMs, connection, request, () => reader.read());
        return done ? null : (value ?? new Uint8Array());
      },
      cancel() {
        cancel();
        reader.cancel().catch(() => {});
      },
    };
  } catch (error) {
    cancel();
    throw error;
  }
}

/** What `act` gives, or the error that it took longer or that there was none. */
async function within<Result>(
  ms: number,
  connection: AbortController,
  { told, withoutSecret }: StreamRequest,
  act: () => Promise<Result>,
): Promise<Result> {
  const { signal } = connection;
  if (signal.aborted) throw aborted(told);
  let end = () => {};
  const ended = new Promise<never>((_, reject) => (end = () => reject(signal.reason)));
  signal.addEventListener("abort", end, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    connection.abort();
  }, ms);
  try {
    return await Promise.race([act(), ended]);
  } catch (cause) {
    if (late) throw timedOut(told, ms);
    if (signal.aborted) throw aborted(told);
    throw noAnswer(told, withoutSecret(describeFailure(cause)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
