import { ERRORS } from "../../../src/base/errors.ts";
import type { ErrorCode } from "../../../src/base/errors.ts";
import type { ApiDocument } from "../../support/documented-answers.ts";
import { faultsBy } from "../../support/documented-answers.ts";
import type { Answer, Sent } from "./request.ts";

/** Which laws an answer breaks, one sentence; null when none. */
export type Judge = (sent: Sent, answer: Answer, secrets: readonly string[]) => string | null;

export function judgeBy(document: ApiDocument): Judge {
  const faultOf = faultsBy(document);
  return (sent, answer, secrets) => {
    const { status, mediaType, text } = answer;
    if (secrets.some((secret) => text.includes(secret))) return "the answer says a secret";
    const isProblem = status >= 400;
    if (isProblem && mediaType !== "application/problem+json") {
      return `${status} has the media type ${mediaType}: ${text.slice(0, 200)}`;
    }
    if (sent.method === "HEAD") return text === "" ? isServers(status) : "HEAD has a body";
    const isJson = mediaType?.endsWith("json") === true;
    let body: unknown = text === "" ? null : text;
    if (isJson && text !== "") {
      try {
        body = JSON.parse(text);
      } catch {
        return `the answer is no JSON: ${text.slice(0, 200)}`;
      }
    }
    if (isProblem) {
      const { code, status: said } = body as { code: string; status: number };
      if (!Object.hasOwn(ERRORS, code)) return `an unknown code: ${code}`;
      if (said !== status || ERRORS[code as ErrorCode].status !== status) {
        return `${code} is no ${status}`;
      }
      // What the API promises for later; it belongs to no operation.
      if (code === "not_yet") return null;
    }
    const fault = isServers(status);
    if (fault) return `${fault} ${text}`;
    // An open stream has no end that could be looked at; an upgrade has no body.
    if (mediaType?.startsWith("text/event-stream") || status === 101) return null;
    return faultOf(sent.method, meantPath(sent.path), { status, mediaType, body });
  };
}

function isServers(status: number): string | null {
  return status >= 500 && status !== 501 ? `answered ${status}` : null;
}

/** Without its query, and with dots and escapes resolved, as the server does before it looks for what is there. */
function meantPath(path: string): string {
  const { pathname } = new URL(`http://server.test${path}`);
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}
