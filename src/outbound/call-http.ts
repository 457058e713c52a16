import type { HttpRequest } from "../activities/http-input.ts";
import type { AttemptFailure } from "../activities/types.ts";
import { abortAfter } from "../base/abort-after.ts";
import { RESERVED_DATA_KEY, bytesOver } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { retryAfter } from "../base/retry-after.ts";
import { VERSION } from "../base/version.ts";
import { readBody } from "./read-body.ts";
import { redirected } from "./redirect.ts";
import type { Sent } from "./redirect.ts";
import { targetFault } from "./target.ts";
import type { OutboundEnv } from "./target.ts";

/** An answer of 2xx: `{status, headers, body}`; the body parsed where it says that it is JSON, else text. */
type Called = { output: JsonObject } | { failure: AttemptFailure };

/** Other answers beside 5xx after which the same request may succeed. */
const PASSING = new Set([408, 425, 429]);

/**
 * One HTTP call with its redirects, under the key by which its receiver tells a repeat. Never throws: whatever goes wrong
 * is how the attempt ended, in words that quote neither address nor headers.
 */
export async function callHttp(
  { method, url, headers, body, policy }: HttpRequest,
  key: string,
  env: OutboundEnv,
  cancelled: AbortSignal,
): Promise<Called> {
  const sent: Sent = { method, url, headers: requestHeaders(headers, body, key), body: text(body) };
  return await abortAfter(policy.timeoutMs, async (late) => {
    try {
      return await follow(sent, env, AbortSignal.any([late, cancelled]));
    } catch {
      if (late.aborted) {
        const message = `There was no whole answer within ${policy.timeoutMs} ms.`;
        return failed({ code: "timeout", message, retryable: true });
      }
      // What was thrown may quote the address or worse.
      return failed({ code: "network", message: "The connection failed.", retryable: true });
    }
  });
}

async function follow(first: Sent, env: OutboundEnv, signal: AbortSignal): Promise<Called> {
  let sent = first;
  for (let hops = 0; hops <= LIMITS.httpRedirects; hops += 1) {
    const fault = targetFault(sent.url, env);
    if (fault !== null)
      return refused(hops === 0 ? fault : `A redirect was not followed: ${fault}`);
    const { url, ...init } = sent;
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    const next = redirected(sent, response);
    if (next === null) return await answered(response);
    // Nothing of it is read.
    await response.body?.cancel().catch(() => {});
    sent = next;
  }
  return refused(`There were more than ${LIMITS.httpRedirects} redirects.`);
}

async function answered(response: Response): Promise<Called> {
  const { status, ok } = response;
  if (!ok) return await failedStatus(response);
  const headers = headersOf(response);
  const room = LIMITS.httpResponseBytes - JSON.stringify(headers).length;
  const read = await readBody(response, room);
  const tooLarge = (message: string) =>
    failed({ code: "too_large", message, status, retryable: false });
  if (!("body" in read)) return tooLarge(read.fault);
  const output = { status, headers, body: read.body };
  const bytes = bytesOver(LIMITS.httpOutputBytes, JSON.stringify(output));
  if (bytes <= LIMITS.httpOutputBytes) return { output };
  return tooLarge(
    `The answer has ${bytes} bytes as JSON; the limit httpOutputBytes is ${LIMITS.httpOutputBytes}.`,
  );
}

/**
 * One string each, but for cookies: what joins other values can be part of theirs. Without a header that no data may have.
 */
function headersOf({ headers }: Response): JsonObject {
  const cookies = headers.getSetCookie();
  const kept = [...headers].filter(([name]) => name !== RESERVED_DATA_KEY);
  return {
    ...(Object.fromEntries(kept) as JsonObject),
    ...(cookies.length > 0 && { "set-cookie": cookies }),
  };
}

async function failedStatus(response: Response): Promise<Called> {
  const { status, headers } = response;
  const retryable = status >= 500 || PASSING.has(status);
  const retryAfterMs = retryable ? retryAfter(headers.get("Retry-After")) : 0;
  const read = await readBody(response, LIMITS.httpErrorBytes, true);
  return failed({
    code: "http_status",
    message: `The answer was ${status}.`,
    status,
    ...("body" in read && read.body !== null ? { body: read.body } : {}),
    ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
    retryable,
  });
}

function requestHeaders(
  own: HttpRequest["headers"],
  body: JsonValue | undefined,
  key: string,
): Headers {
  const headers = new Headers({ "User-Agent": `Perdure/${VERSION}` });
  if (body !== undefined && typeof body !== "string") {
    headers.set("Content-Type", "application/json");
  }
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  headers.set("Idempotency-Key", `"${key}"`);
  return headers;
}

function text(body: JsonValue | undefined): string | null {
  if (body === undefined) return null;
  return typeof body === "string" ? body : JSON.stringify(body);
}

function refused(message: string): Called {
  return failed({ code: "refused", message, retryable: false });
}

function failed(failure: AttemptFailure): Called {
  return { failure };
}
