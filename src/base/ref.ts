import { LIMITS } from "./limits.ts";

/** A reference of actors, by which one may be called instead of its id. */
export interface Ref {
  name: string;
  value: string;
}

const PREFIX = "ref:";

/** Whether a text is meant as a reference; no actor's id begins so. */
export function isRef(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The reference that `ref:<name>:<value>` names; null for an id and for a reference that none can be. The name ends at the first colon. */
export function parseRef(text: string): Ref | null {
  if (!isRef(text)) return null;
  const end = text.indexOf(":", PREFIX.length);
  if (end < 0) return null;
  const name = text.slice(PREFIX.length, end);
  const value = text.slice(end + 1);
  const fits = isWithin(LIMITS.refNameChars, name) && isWithin(LIMITS.refValueChars, value);
  return fits ? { name, value } : null;
}

function isWithin(most: number, { length }: string): boolean {
  return length >= 1 && length <= most;
}
