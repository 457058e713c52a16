import { PerdureError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { ENVELOPE_FORMAT } from "./types.ts";
import type { Envelope } from "./types.ts";

/** Each step turns the format of its number into the next; steps are never edited once released. */
const UPGRADES: readonly ((envelope: JsonObject) => JsonObject)[] = [
  // Before migrations: who was born on a definition is there since birth, before any step.
  (envelope) => ({
    ...envelope,
    format: 2,
    history: { ...(envelope["history"] as JsonObject), steps: null },
    entered: { seq: 1, steps: 0 },
    moves: [],
  }),
];

export function encodeEnvelope(envelope: Envelope): string {
  return JSON.stringify(envelope);
}

/** Reads an envelope of this or any older format; refuses a newer one with both numbers. */
export function decodeEnvelope(text: string): Envelope {
  let envelope = JSON.parse(text) as JsonObject;
  const format = envelope["format"] as number;
  if (format > ENVELOPE_FORMAT) {
    throw new PerdureError(
      "unavailable",
      `The actor is stored in format ${format}; this version knows formats up to ${ENVELOPE_FORMAT}. Deploy the newer version.`,
    );
  }
  for (const upgrade of UPGRADES.slice(format - 1)) envelope = upgrade(envelope);
  return envelope as unknown as Envelope;
}
