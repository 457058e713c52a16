import { PerdureError } from "../base/errors.ts";
import { bytesOver, canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Fault } from "../machine/evaluation.ts";
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
  // Before activities.
  (envelope) => ({
    ...envelope,
    format: 3,
    activities: [],
    ended: [],
    undo: [],
    undeliverable: [],
    parent: null,
  }),
];

/** Texts already written: a snapshot is measured before it is committed, and never changed, only replaced. */
const texts = new WeakMap<Envelope, string>();

export function encodeEnvelope(envelope: Envelope): string {
  const known = texts.get(envelope);
  if (known !== undefined) return known;
  const text = JSON.stringify(envelope);
  texts.set(envelope, text);
  return text;
}

/** Null, or why an actor cannot be kept like this: what it has becomes one row. One that was larger `before` may go on. */
export function snapshotFault(envelope: Envelope, before: Envelope | null = null): Fault | null {
  const limit = LIMITS.snapshotBytes;
  const bytes = bytesOver(limit, encodeEnvelope(envelope));
  if (bytes <= limit) return null;
  if (before !== null && bytes <= bytesOver(limit, encodeEnvelope(before))) return null;
  const message = `The actor's snapshot would have ${bytes} bytes of JSON; the limit snapshotBytes is ${limit}.`;
  return { code: "limit_exceeded", limit: "snapshotBytes", message };
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

/** The same actor, whatever versions wrote it: null, or both as they differ. */
export function envelopesDiffer(
  expected: Envelope,
  actual: Envelope,
): { expected: JsonValue; actual: JsonValue } | null {
  const uncounted = expected.history.steps === null || actual.history.steps === null;
  const [one, other] = [comparable(expected, uncounted), comparable(actual, uncounted)];
  return canonicalJson(one) === canonicalJson(other) ? null : { expected: one, actual: other };
}

/** Format 1 did not count all steps, so what it left and a replay, which counts them, differ by that. */
function comparable(envelope: Envelope, uncounted: boolean): JsonValue {
  const { engine: _engine, implementations: _implementations, ...rest } = envelope;
  const history = uncounted ? { ...rest.history, steps: null } : rest.history;
  return { ...rest, history } as unknown as JsonObject;
}
