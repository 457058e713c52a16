import { isJsonObject } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { ATTEMPTS, policyOf } from "./policy-input.ts";
import { anything, map, object, oneOf, parse, satisfies } from "./shape.ts";
import type { Parsed, Shape } from "./shape.ts";
import type { Policy } from "./types.ts";

/** One HTTP request, to be made until it ends. */
export interface HttpRequest {
  method: string;
  /** Absolute, http or https. */
  url: string;
  headers: { readonly [name: string]: string };
  /** undefined: none. A string is sent as it is, other values as JSON. */
  body: JsonValue | undefined;
  policy: Policy;
}

/** Headers that are about the connection, or that tell attempts of one activity from another's. */
const RESERVED_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "idempotency-key",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const headerName = satisfies(
  (name) =>
    typeof name === "string" &&
    name.length <= LIMITS.nameChars &&
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    !RESERVED_HEADERS.has(name.toLowerCase()),
  "No header of this name can be set: it is Perdure's or the connection's own, or no name of a header.",
);

const headerValue = satisfies(
  // A header is a line of Latin-1: what is beyond it cannot be sent, and a line end would begin another header.
  (value) => typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  "A header's value is a string in Latin-1 without line ends.",
);

const url = satisfies(
  (value) => typeof value === "string" && value.length <= LIMITS.urlChars && isHttpUrl(value),
  `This is an absolute http or https URL of at most ${LIMITS.urlChars} characters.`,
);

const bodyFitsMethod: Shape = (input, pointer, reader) => {
  if (!isJsonObject(input) || input["body"] === undefined) return;
  const { method = "GET" } = input;
  if (method !== "GET" && method !== "HEAD") return;
  reader.faults.push({
    pointer,
    message: `A ${method} has no body: write another \`method\`, such as "POST", or leave \`body\` out.`,
  });
};

export const HTTP_INPUT: Shape = object(
  {
    required: { url },
    optional: {
      method: oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
      headers: map(headerName, headerValue, LIMITS.httpHeaders),
      body: anything,
      ...ATTEMPTS,
    },
  },
  "The input of `http`",
  bodyFitsMethod,
);

export function parseHttpInput(input: JsonValue): Parsed<HttpRequest> {
  return parse(HTTP_INPUT, input, (value) => ({
    method: (value["method"] as string | undefined) ?? "GET",
    url: value["url"] as string,
    headers: (value["headers"] as HttpRequest["headers"] | undefined) ?? {},
    body: value["body"],
    policy: policyOf(value),
  }));
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
