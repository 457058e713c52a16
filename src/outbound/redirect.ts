/** A request as it goes out. */
export interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: string | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that say who asks: another origin is not told. */
const CREDENTIALS = ["Authorization", "Cookie"];
const ABOUT_BODY = [
  "Content-Type",
  "Content-Encoding",
  "Content-Language",
  "Content-Location",
  "Digest",
];

/** The request that an answer sends on to, as browsers do it; null when it is an answer. */
export function redirected(
  { method, url, headers: before, body }: Sent,
  { status, headers: answer }: Pick<Response, "status" | "headers">,
): Sent | null {
  const location = answer.get("Location");
  if (!REDIRECTS.has(status) || location === null || !URL.canParse(location, url)) return null;
  const to = new URL(location, url);
  to.hash = "";
  const headers = new Headers(before);
  if (to.origin !== new URL(url).origin) for (const name of CREDENTIALS) headers.delete(name);
  const read = method === "GET" || method === "HEAD";
  if ((status === 303 && !read) || (status < 303 && method === "POST")) {
    for (const name of ABOUT_BODY) headers.delete(name);
    return { method: "GET", url: to.href, headers, body: null };
  }
  return { method, url: to.href, headers, body };
}
