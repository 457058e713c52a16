import { canonicalJson } from "../base/json.ts";
import type { Entry } from "../directory/rpc.ts";
import { tagsOf } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import { attentionReasons } from "./attention.ts";
import { alarmTime } from "./timers.ts";

/** What an actor can be found and counted by: a change of any of it has to reach the directory. */
export type Indexed = Pick<
  Entry,
  "definitionId" | "family" | "status" | "stateValue" | "tags" | "refs" | "attention" | "dueAt"
>;

export function indexedOf({ envelope, live }: Actor): Indexed {
  return {
    definitionId: envelope.definitionId,
    family: envelope.family,
    status: envelope.status,
    stateValue: envelope.machine.value,
    tags: tagsOf(live),
    refs: envelope.refs,
    attention: attentionReasons(envelope),
    dueAt: alarmTime(envelope),
  };
}

/** Whether the directory would show both alike. */
export function sameIndexed(a: Indexed, b: Indexed): boolean {
  return (
    a.definitionId === b.definitionId &&
    a.family === b.family &&
    a.status === b.status &&
    a.dueAt === b.dueAt &&
    sameList(a.tags, b.tags) &&
    sameList(a.attention, b.attention) &&
    (a.refs === b.refs || canonicalJson(a.refs) === canonicalJson(b.refs)) &&
    (a.stateValue === b.stateValue || canonicalJson(a.stateValue) === canonicalJson(b.stateValue))
  );
}

/** An actor's entry in the directory; `changedAt` is the commit's time on the server's clock. */
export function entryOf(
  actor: Actor,
  { events, replays, steps }: Pick<Entry, "events" | "replays" | "steps">,
  changedAt: number,
): Entry {
  const { id, uid, bornAt, seq, at, moves, entered } = actor.envelope;
  return {
    id,
    uid,
    bornAt,
    seq,
    ...indexedOf(actor),
    updatedAt: at,
    events,
    replays,
    steps,
    moves: [...moves],
    entered: entered.steps,
    changedAt,
  };
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]));
}
