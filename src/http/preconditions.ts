import { PerdureError } from "../base/errors.ts";

/** The seq in an `If-Match`; null where there is none or any will do. */
export function parseIfMatch(header: string | null): number | null {
  if (header === null || header.trim() === "*") return null;
  const [, digits] = /^\s*"(\d{1,15})"\s*$/.exec(header) ?? [];
  if (digits === undefined) {
    throw new PerdureError(
      "invalid_request",
      'If-Match is an actor\'s ETag, its seq in quotes such as "12", or *.',
    );
  }
  return Number(digits);
}

export function etag(seq: number): string {
  return `"${seq}"`;
}

export interface Preferences {
  /** `handling=strict` */
  strict: boolean;
  /** `return=representation` */
  representation: boolean;
}

const NOTHING_PREFERRED: Preferences = { strict: false, representation: false };

/** What is understood of a `Prefer` header (RFC 7240); the rest of it is ignored, as it must be. */
export function parsePrefer(header: string | null): Preferences {
  if (header === null) return NOTHING_PREFERRED;
  const preferences = { ...NOTHING_PREFERRED };
  for (const preference of header.toLowerCase().split(",")) {
    const [stated = ""] = preference.split(";");
    const value = stated.replaceAll(/[\s"]/g, "");
    if (value === "handling=strict") preferences.strict = true;
    if (value === "return=representation") preferences.representation = true;
  }
  return preferences;
}
