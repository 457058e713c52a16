import { describeFailure, readAnswer } from "./answer.ts";
import type { Answer, Received } from "./answer.ts";
import { PerdureError } from "./errors.ts";
import type { FailedCall } from "./errors.ts";
import { aborted, noAnswer, timedOut } from "./no-answer.ts";
import { openStream } from "./open-stream.ts";
import type { ByteReader } from "./open-stream.ts";
import { isUnclear, isWorthRepeating, pauseMs, sleep } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";

/** What is used of `fetch`; the one of every runtime fits. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: { [name: string]: string };
    body?: string;
    signal: AbortSignal;
    redirect: "manual";
  },
) => Promise<{
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Needed by `subscribe` only. */
  body?: ByteStream | null;
}>;

/** What is used of a `ReadableStream` of bytes. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its pauses and its repeats; the error then has the code `aborted`. */
  signal?: AbortSignal | undefined;
  /** ms for one attempt; the client's own default otherwise. */
  timeoutMs?: number | undefined;
}

/** One request, before it is sent. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: { [name: string]: string | number | boolean | undefined };
  body?: unknown;
  headers?: { [name: string]: string };
  /** The idempotency key, the same in every attempt. */
  key?: string;
  /** The answer is text, not JSON. */
  text?: boolean;
  /** A POST that changes nothing. */
  safe?: boolean;
  options?: CallOptions | undefined;
}

interface Settings {
  baseUrl: string;
  apiKey: string;
  fetch: Fetch;
  retry: RetryPolicy;
  timeoutMs: number;
}

/** characters */
const SHORTEST_SECRET = 16;
const LONGEST_TIMEOUT_MS = 2_147_483_647;

/** A `timeoutMs` that a timer can hold. Throws a RangeError otherwise. */
export function checkedTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS) return timeoutMs;
  throw new RangeError(`timeoutMs must be above 0 and at most ${LONGEST_TIMEOUT_MS}`);
}

/**
 * One call, as many attempts as it takes.
 *
 * T1: every attempt sends the same bytes and the same key.
 * T2: nothing is repeated unless the repeat does no harm: it is safe (GET and the POSTs that
 *     change nothing), idempotent by nature (PUT, DELETE) or keyed.
 * T3: the number of attempts and the length of each and of each pause are bounded.
 * T4: the API key is in a header and nowhere else: not in an error, not in a member.
 */
export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Resolves with the body of a 2xx; everything else rejects with a {@link PerdureError}. */
  async send<Body>(call: Call): Promise<Answer<Body>> {
    const { retry } = this.#settings;
    const signal = call.options?.signal;
    const told: FailedCall = { method: call.method, path: call.path, key: call.key ?? null };
    const attempt = this.#prepare(call, told);
    let unclear = false;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return readAnswer<Body>(told, await attempt(), call.text === true);
      } catch (error) {
        if (!(error instanceof PerdureError)) throw error;
        // What an earlier attempt deleted is gone: that is what was asked for.
        if (call.method === "DELETE" && unclear && error.status === 404) {
          return { body: undefined as Body, replayed: false };
        }
        unclear ||= isUnclear(error);
        if (!isRepeatable(call) || !isWorthRepeating(error)) throw error;
        const pause = pauseMs(retry, attempts, error.retryAfterMs);
        if (pause === null) throw error;
        await sleep(pause, signal).catch(() => {
          throw aborted(told);
        });
      }
    }
  }

  get retry(): RetryPolicy {
    return this.#settings.retry;
  }

  /**
   * One attempt of a GET whose answer is read while it comes; null when the server says that there is nothing (204).
   * `signal` ends it at any time.
   */
  async open(call: Call, signal: AbortSignal): Promise<ByteReader | null> {
    const told: FailedCall = { method: call.method, path: call.path, key: null };
    const { fetch } = this.#settings;
    const withoutSecret = (text: string, status?: number) => this.#withoutSecret(text, status);
    return openStream({ told, ...this.#request(call), fetch, withoutSecret }, signal);
  }

  /** Fixes what is sent (T1) and returns the function that sends it once. */
  #prepare(call: Call, told: FailedCall): () => Promise<Received> {
    const { url, init, timeoutMs } = this.#request(call);
    return () => this.#attempt(url, init, timeoutMs, call.options?.signal, told);
  }

  #request(call: Call) {
    const { apiKey, baseUrl } = this.#settings;
    const url = `${baseUrl}${call.path}${queryString(call.query)}`;
    const headers: { [name: string]: string } = {
      accept: call.text ? "text/plain, application/problem+json" : "application/json",
      authorization: `Bearer ${apiKey}`,
      ...call.headers,
    };
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    if (body !== undefined) headers["content-type"] = "application/json";
    if (call.key !== undefined) headers["idempotency-key"] = call.key;
    const timeoutMs = checkedTimeout(call.options?.timeoutMs ?? this.#settings.timeoutMs);
    const init = { method: call.method, headers, ...(body === undefined ? {} : { body }) };
    return { url, init, timeoutMs };
  }

  async #attempt(
    url: string,
    init: { method: string; headers: { [name: string]: string }; body?: string },
    timeoutMs: number,
    signal: AbortSignal | undefined,
    told: FailedCall,
  ): Promise<Received> {
    if (signal?.aborted) throw aborted(told);
    const controller = new AbortController();
    const end = () => controller.abort();
    const timer = setTimeout(end, timeoutMs);
    signal?.addEventListener("abort", end, { once: true });
    // A fetch that was passed in may not listen to the signal; the call ends all the same.
    const ended = new Promise<never>((_, reject) => {
      controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
    });
    try {
      // Redirects are not followed: a redirected POST would arrive as a GET.
      const sent = { ...init, signal: controller.signal, redirect: "manual" } as const;
      return await Promise.race([this.#exchange(url, sent), ended]);
    } catch (cause) {
      if (signal?.aborted) throw aborted(told);
      if (controller.signal.aborted) throw timedOut(told, timeoutMs);
      throw noAnswer(told, this.#withoutSecret(describeFailure(cause)));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  async #exchange(url: string, init: Parameters<Fetch>[1]): Promise<Received> {
    const response = await this.#settings.fetch(url, init);
    const text = await response.text();
    const header = (name: string) => response.headers.get(name);
    return { status: response.status, header, text: this.#withoutSecret(text, response.status) };
  }

  /** T4, against a server or a fetch that repeats what it was sent. Successes are left alone. */
  #withoutSecret(text: string, status = 0): string {
    const { apiKey } = this.#settings;
    const isSuccess = status >= 200 && status < 300;
    // A word like `dev` is no secret, and may be part of any sentence.
    if (isSuccess || apiKey.length < SHORTEST_SECRET) return text;
    return text.replaceAll(apiKey, "[key]");
  }
}

function isRepeatable(call: Call): boolean {
  if (call.method === "POST") return call.key !== undefined || call.safe === true;
  return call.method !== "PATCH";
}

function queryString(query: Call["query"]): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
