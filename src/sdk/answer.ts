import { errorOfAnswer } from "./errors.ts";
import type { FailedCall } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { parseRetryAfter } from "./retry.ts";

export interface Answer<Body> {
  body: Body;
  /** Whether an earlier request with the same key had already been answered so. */
  replayed: boolean;
}

/** What arrived, as it arrived. */
export interface Received {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** The messages of an error and of what caused it; runtimes put the reason at different depths. */
export function describeFailure(cause: unknown): string {
  const messages: string[] = [];
  for (let error = cause; error instanceof Error && messages.length < 4; error = error.cause) {
    const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
    messages.push(error.message === "" ? code : error.message);
  }
  return messages.length === 0 ? "the reason is unknown" : messages.join(": ");
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The body of a 2xx, as text or parsed; throws the error of everything else. */
export function readAnswer<Body>(
  told: FailedCall,
  received: Received,
  asText = false,
): Answer<Body> {
  const { status, text } = received;
  const succeeded = status >= 200 && status < 300;
  const plain = received.header("content-type")?.startsWith("text/plain") === true;
  if (succeeded && asText && plain) return { body: text as Body, replayed: false };
  const body = text === "" ? undefined : parseJson(text);
  if (succeeded && !asText && (status === 204 || body !== undefined)) {
    const replayed = received.header("idempotent-replayed") === "true";
    return { body: body as Body, replayed };
  }
  const requestId = received.header("x-request-id");
  const retryAfterMs = parseRetryAfter(received.header("retry-after"));
  throw errorOfAnswer(told, { status, body, requestId, retryAfterMs });
}
