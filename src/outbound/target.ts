import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { isPublicV4, isPublicV6 } from "./address.ts";

/** What of the configuration decides whom we call. */
export interface OutboundEnv {
  PERDURE_PRIVATE_TARGETS?: string;
}

/** Names that mean the machine itself, the network around it, or nothing at all (RFC 6761, RFC 6762, RFC 9476, ICANN's `internal`). */
const INSIDE = new Set([
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "arpa",
  "invalid",
  "test",
  "onion",
  "alt",
]);

/**
 * Why an address is not called, in a sentence, or null. A public name may still lead to a private address:
 * what resolves names has to refuse that (docs/security.md).
 */
export function targetFault(address: string, env: OutboundEnv): string | null {
  if (address.length > LIMITS.urlChars)
    return `An address has at most ${LIMITS.urlChars} characters.`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "The address must be an absolute http or https URL.";
  }
  if (url.username !== "" || url.password !== "") {
    return "The address must hold no user name and no password.";
  }
  // A bare "#" leaves no hash.
  if (address.includes("#")) return "The address must hold no fragment.";
  if (env.PERDURE_PRIVATE_TARGETS === "1") return null;
  return isPublic(url.hostname)
    ? null
    : "The address leads to this machine or into a private network, which this server does not call. Name a public one, or start a server of your own with PERDURE_PRIVATE_TARGETS=1.";
}

/** Throws `target_refused`. */
export function checkTarget(address: string, env: OutboundEnv, pointer: string): void {
  const fault = targetFault(address, env);
  if (fault === null) return;
  throw new PerdureError("target_refused", fault, {
    errors: [{ pointer, code: "target_refused", message: fault }],
  });
}

/** Whether a URL's host, as its parser wrote it, is public as far as its spelling tells. */
function isPublic(hostname: string): boolean {
  if (hostname.startsWith("[")) return isPublicV6(hostname.slice(1, -1));
  // The parser has turned every spelling of a v4 address into four decimal numbers.
  if (/^[\d.]+$/.test(hostname)) return isPublicV4(hostname);
  const labels = hostname.replace(/\.+$/, "").split(".");
  const last = labels.at(-1) ?? "";
  // A name without a dot is looked up in the network around us.
  return labels.length > 1 && labels.every((label) => label !== "") && !INSIDE.has(last);
}
