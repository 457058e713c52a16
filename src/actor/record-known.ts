import type { Advanced } from "../lifecycle/conclude.ts";
import { isOver } from "../lifecycle/fire-activity.ts";
import { originOf } from "../lifecycle/input.ts";
import type { Activity, Effect } from "../lifecycle/types.ts";
import { hasRoom } from "./outbox.ts";
import type { Known, OutboxItem } from "./outbox.ts";
import type { Resident } from "./resident.ts";
import type { Work } from "./work.ts";

/**
 * Writes down what became of an effect: one transaction, with what is due before it. `later`: the actor takes no result now,
 * since it is held back, has no room, or more to fire first; `never`: it has as many records as an actor may have.
 */
export async function recordKnown(
  resident: Resident,
  uid: string,
  effect: Effect,
  known: Known,
): Promise<"recorded" | "later" | "never"> {
  await resident.ready();
  const { actor, outbox } = resident;
  // Gone, and its work with it; or it has set out again, and this is of the round before.
  if (actor?.envelope.uid !== uid) return "recorded";
  if (!outbox.some((item) => item.effect === effect)) return "recorded";
  const { work, now } = resident.begin(actor);
  const { at = now } = known;
  const turn = takesResults(work) && !isOver(work.actor.envelope, effect.ref, at);
  const advanced =
    turn && !work.hasTaken(known) ? work.try(known.input, now, originOf(known)) : null;
  if (advanced?.ok) work.take(advanced);
  const taken = advanced?.ok ?? work.hasTaken(known);
  resident.end(work);
  if (taken) return "recorded";
  return advanced !== null && isFull(advanced) ? "never" : "later";
}

function isFull(advanced: Advanced): boolean {
  return !advanced.ok && advanced.fault.limit === "recordsPerActor";
}

/**
 * Keeps among `others` in the outbox what cannot be recorded yet; false where there is no room for it. What is known begins
 * nothing, so it needs no input.
 */
export function keepKnown(
  resident: Resident,
  { ref, id, src }: Activity,
  known: Known,
  others: readonly OutboxItem[] = resident.outbox,
): boolean {
  const effect = { kind: "start", ref, id, src, input: null } as const;
  const items = [...others, { effect, attempts: 0, nextAt: 0, errors: [], known }];
  if (!hasRoom(items)) return false;
  resident.keepOutbox(items);
  return true;
}

/** One that is held back takes them when it goes on. */
export function takesResults({ actor }: Work): boolean {
  const { status } = actor.envelope;
  return status !== "paused" && status !== "stranded";
}
