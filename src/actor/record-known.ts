import type { Known } from "./outbox.ts";
import type { Resident } from "./resident.ts";
import type { Work } from "./work.ts";

/**
 * Writes down what became of an effect: one transaction, with what is due before it. False when the actor takes no result
 * now, since it is held back or full.
 */
export async function recordKnown(
  resident: Resident,
  uid: string,
  { input, by, principal, key = null }: Known,
): Promise<boolean> {
  await resident.ready();
  const { actor } = resident;
  // Gone, and its work with it.
  if (actor?.envelope.uid !== uid) return true;
  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const advanced = takesResults(work)
    ? work.try(input, now, { key, request: null, by, principal })
    : null;
  if (advanced?.ok) work.take(advanced);
  if (work.changed) resident.commit(work.actor, work.records);
  return advanced?.ok ?? false;
}

/** One that is held back takes them when it goes on. */
export function takesResults({ actor }: Work): boolean {
  const { status } = actor.envelope;
  return status !== "paused" && status !== "stranded";
}
