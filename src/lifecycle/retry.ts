import { parseActorInput } from "../activities/actor-input.ts";
import { childIds } from "../activities/child-names.ts";
import type { Fault } from "../machine/evaluation.ts";
import { setOut } from "./activities.ts";
import { activityFault, withActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { beginUndo } from "./compensate.ts";
import { control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Origin } from "./input.ts";
import { inOrder, timerFault } from "./timers.ts";
import type { Activity, Child, Envelope, Undo } from "./types.ts";

/**
 * What can be run again: parked timers by their ids, activities that failed and what could not be undone by their refs,
 * and messages that were not delivered by theirs. `wanted`: one of these, or the name of an activity; null for all. They are
 * begun in this order: what is to be undone newest first.
 */
export function retriable(envelope: Envelope, wanted: string | null): string[] {
  const { parked, activities, undeliverable } = envelope;
  const items = [
    ...parked.map(({ timer }) => {
      const of = timer.kind === "result" ? [timer.activity, timer.invoke] : [];
      return { item: timer.id, names: [timer.id, ...of] };
    }),
    ...[
      ...activities.filter(({ status }) => status === "failed"),
      ...failedUndos(envelope).toReversed(),
    ].map(({ ref, id }) => ({ item: ref, names: [ref, id] })),
    ...undeliverable.map(({ ref }) => ({ item: ref, names: [ref] })),
  ];
  return items.flatMap(({ item, names }) =>
    wanted === null || names.includes(wanted) ? [item] : [],
  );
}

/** What was tried to be undone in vain, unless a compensation is there that will try it again. */
export function failedUndos({ undo, activities }: Envelope): Undo[] {
  if (activities.some(({ src }) => src === "compensate")) return [];
  const underWay = new Set(activities.map(({ undoes }) => undoes));
  return undo.filter(({ ref, error }) => error !== null && !underWay.has(ref));
}

/** Runs again what somebody mended the cause of; activities under the keys that they have. */
export function retry(
  actor: Actor,
  items: readonly string[],
  at: number,
  origin: Origin,
): Advanced {
  const effects = new Effects(actor.envelope.seq + 1);
  const wanted = new Set(items);
  let envelope = retryParked(actor.envelope, wanted);
  const undos = failedUndos(envelope);
  for (const activity of envelope.activities) {
    if (activity.status !== "failed" || !wanted.has(activity.ref)) continue;
    const again = renewed(envelope.uid, activity, at);
    envelope = setOut(withActivity(envelope, again), again, effects, at);
  }
  for (const item of items) {
    const undo = undos.find(({ ref }) => ref === item);
    if (undo !== undefined) envelope = beginUndo(envelope, undo, null, effects, at);
  }
  for (const { ref, to, event } of envelope.undeliverable) {
    if (wanted.has(ref)) effects.ask({ kind: "send", ref, to, event });
  }
  const undeliverable = envelope.undeliverable.filter(({ ref }) => !wanted.has(ref));
  const payload = { items: [...items] };
  const part = { kind: "retried", payload, effects: effects.list } as const;
  return control(actor, { ...envelope, undeliverable }, part, at, origin);
}

/** Null, or why an actor cannot hold what a retry begins. Asked of a new one only: what a log tells has been begun. */
export function retryFault(before: Envelope, after: Envelope): Fault | null {
  const more = after.activities.length > before.activities.length;
  const fault = more ? activityFault(after) : null;
  return fault ?? (after.generations > before.generations ? timerFault(after) : null);
}

function retryParked(envelope: Envelope, wanted: ReadonlySet<string>): Envelope {
  const again = envelope.parked.filter(({ timer }) => wanted.has(timer.id));
  if (again.length === 0) return envelope;
  return {
    ...envelope,
    parked: envelope.parked.filter((item) => !again.includes(item)),
    timers: inOrder([...envelope.timers, ...again.map(({ timer }) => timer)]),
  };
}

/** A failed activity before it sets out again. */
function renewed(
  uid: string,
  { since: _since, errors: _errors, children, ...activity }: Activity,
  startedAt: number,
): Activity {
  const round = (activity.round ?? 0) + 1;
  const again = { ...activity, startedAt, status: "running", error: null, round } as const;
  return children === undefined ? again : { ...again, children: others(uid, again, children) };
}

/** Children that ended well are not asked twice; in the place of the others come new ones. */
function others(uid: string, activity: Activity, children: readonly Child[]): Child[] {
  const { ref, input, round } = activity;
  const parsed = parseActorInput(input);
  const ids = parsed.ok ? childIds(uid, ref, parsed.value, round) : [];
  return children.map((child, index) =>
    child.outcome !== null && "output" in child.outcome
      ? child
      : { id: ids[index] ?? child.id, outcome: null },
  );
}
