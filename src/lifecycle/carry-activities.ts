import type { ActivityFate } from "../machine/land-activities.ts";
import { cancelActivities } from "./activities.ts";
import type { Effects } from "./effects.ts";
import type { Activity, Envelope } from "./types.ts";

/** An activity of a state, as records of moves list it. */
interface ActivityNote {
  state: string;
  id: string;
  src: string;
}

/** The notes of one move. */
export interface ActivityNotes {
  /** Under the paths of their new states. */
  kept: ActivityNote[];
  cancelled: ActivityNote[];
  started: ActivityNote[];
}

/**
 * Activities go over with what invoked them, untouched but for the path of their state: same input, same key, same
 * attempts, same due times. Those that the new version does not have are cancelled. What no state holds stays.
 */
export function carryActivities(
  envelope: Envelope,
  fate: ActivityFate,
  effects: Effects,
  at: number,
): { envelope: Envelope; notes: ActivityNotes } {
  const notes: ActivityNotes = { kept: [], cancelled: [], started: fate.started.map(noteOf) };
  const gone: Activity[] = [];
  const activities = envelope.activities.map((activity) => {
    const { state, id } = activity;
    if (state === null) return activity;
    const place = fate.kept.find(({ from }) => from.state === state && from.id === id);
    if (place === undefined) {
      gone.push(activity);
      notes.cancelled.push(noteOf({ ...activity, state }));
      return activity;
    }
    notes.kept.push(noteOf(place.to));
    return { ...activity, state: place.to.state };
  });
  return { envelope: cancelActivities({ ...envelope, activities }, gone, effects, at), notes };
}

/** What a record says of them: nothing where there were none, as in records from before there were activities. */
export function saidOf(notes: ActivityNotes): { activities?: ActivityNotes } {
  const { kept, cancelled, started } = notes;
  return kept.length + cancelled.length + started.length > 0 ? { activities: notes } : {};
}

function noteOf({ state, id, src }: ActivityNote): ActivityNote {
  return { state, id, src };
}
