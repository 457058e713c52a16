import { callObject } from "../base/call-object.ts";
import { actorObjectName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { within } from "../base/within.ts";
import type { Env } from "../env.ts";
import { findEntry, writeEntry } from "../storage/directory-entries.ts";
import type { EntryRow } from "../storage/directory-entries.ts";
import { writeRousing } from "../storage/directory-rousing.ts";
import { classOf } from "./actor-class.ts";
import { drop } from "./bury.ts";
import type { GroupCommit } from "./group-commit.ts";
import { overdueBefore } from "./list.ts";
import { ageOf, forgetRousing } from "./put.ts";
import type { Shard } from "./shard.ts";

/** What came of waking an actor. */
type Roused = "awake" | "gone" | "definition_unavailable" | "failed";

/**
 * Overdue actors that are to be woken now, as they are in storage. Each is noted first, in memory, as not to
 * be tried again before a pause that grows: whatever happens to the attempt, the next look comes.
 */
export function overdueNow(shard: Shard, now: number): EntryRow[] {
  const again = [...shard.rousing]
    .filter(([, { at }]) => at <= now)
    .sort(([, a], [, b]) => a.at - b.at)
    .map(([id]) => id);
  if (shard.horizon.drained) shard.readHorizon();
  // Those that failed before do not crowd out the others.
  const tried = again.slice(0, LIMITS.rousedPerAlarm / 2);
  const fresh = shard.horizon.dueBefore(
    overdueBefore(now) + 1,
    LIMITS.rousedPerAlarm - tried.length,
  );
  return [...fresh, ...tried].flatMap((id) => {
    const row = findEntry(shard.db, id);
    if (!row) {
      forgetRousing(shard, id);
      shard.horizon.set(id, null);
      return [];
    }
    const { tries, stored } = shard.rousing.get(id) ?? { tries: 0, stored: false };
    const pause = Math.min(LIMITS.rousePauseMs * 2 ** tries, LIMITS.rousePauseMostMs);
    shard.rousing.set(id, { tries: tries + 1, at: now + pause, stored });
    shard.horizon.set(id, null);
    return [row];
  });
}

/** Wakes actors, some at once. Never throws. */
export async function rouseAll(
  shard: () => Shard,
  env: Pick<Env, "ACTORS">,
  commits: GroupCommit,
  rows: EntryRow[],
): Promise<void> {
  const waiting = [...rows];
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const roused = await rouse(shard().tenant, env, row);
      await commits.add(() => settle(shard(), row, roused, Date.now()));
    }
  };
  await Promise.all(Array.from({ length: LIMITS.rousedAtOnce }, work));
}

async function rouse(tenant: string, env: Pick<Env, "ACTORS">, row: EntryRow): Promise<Roused> {
  const { id, uid } = row;
  try {
    const call = callObject(env.ACTORS, actorObjectName(tenant, id), true, (actor) =>
      actor.rouse({ tenant, id, expect: { uid } }),
    );
    const reply = await within(LIMITS.rouseMs, call);
    if (reply.ok) return "awake";
    if (reply.failure.code === "actor_not_found") return "gone";
    if (reply.failure.extra?.["reason"] === "definition_unavailable")
      return "definition_unavailable";
    throw new Error(`The actor refused: ${reply.failure.detail}`);
  } catch (error) {
    logError("warn", error, { at: "directory/rouse", actor: actorObjectName(tenant, id) });
    return "failed";
  }
}

/** Writes down what came of it, unless the entry has changed meanwhile. */
function settle(shard: Shard, before: EntryRow, roused: Roused, now: number): void {
  const row = findEntry(shard.db, before.id);
  if (!row || row.uid !== before.uid || row.seq !== before.seq) return;
  if (roused === "gone") {
    drop(shard, row, ageOf(row), now);
    return;
  }
  const rousing = shard.rousing.get(row.id);
  // No attempt is noted any more: the actor has told how it stands.
  if (!rousing || roused === "awake") return;
  rousing.stored = true;
  writeRousing(shard.db, { id: row.id, tries: rousing.tries, retry_at: rousing.at });
  if (roused === "definition_unavailable") markUnavailable(shard, row);
}

/** An actor says itself that its definition cannot be had: as if it had been woken in vain. */
export function unavailable(
  shard: Shard,
  { id, uid }: { id: string; uid: string },
  now: number,
): void {
  const row = findEntry(shard.db, id);
  if (!row || row.uid !== uid || shard.rousing.has(id)) return;
  const rousing = { tries: 1, at: now + LIMITS.rousePauseMs, stored: true };
  shard.rousing.set(id, rousing);
  shard.horizon.set(id, null);
  writeRousing(shard.db, { id, tries: rousing.tries, retry_at: rousing.at });
  shard.look(rousing.at);
  markUnavailable(shard, row);
}

function markUnavailable(shard: Shard, row: EntryRow): void {
  const from = shard.classOf(row.class);
  const reasons = [...from.is.attention, "definition_unavailable" as const];
  const to = shard.classFor(classOf({ ...from.is, attention: reasons }));
  if (to === from) return;
  writeEntry(shard.db, { ...row, class: to.n }, false);
  from.count -= 1;
  to.count += 1;
}
