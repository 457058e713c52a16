import { LIMITS } from "../base/limits.ts";
import {
  ITEMS_PER_GROUP,
  countWaiting,
  nextNumber,
  waitingGroups,
} from "../storage/bulk-groups.ts";
import type { GroupRow, Outcome } from "../storage/bulk-groups.ts";
import { updateState } from "../storage/bulk-operation.ts";
import type { OperationRow } from "../storage/bulk-operation.ts";
import { act } from "./act.ts";
import { GROUPS_AT_ONCE, countOutcomes } from "./operation.ts";
import type { Operation } from "./operation.ts";
import { Permits } from "../base/permits.ts";
import { wakingTurn } from "../base/waking.ts";

/** ms after which an alarm goes on with what a crash has cut off. */
const DEAD_MAN_MS = 5_000;
/** ms in which one alarm begins groups; the platform ends it after 15 minutes. */
const RUN_MS = 60_000;
/** Actors out of reach that may wait before no new group is begun: then something larger is wrong. */
const WAITING_MOST = 100;
/** Groups that one alarm tries again. */
const AGAIN_MOST = 20;
/** Items after which others get their turn for certain. */
const REST_AFTER = 2 * LIMITS.bulkConcurrency;
const RETRY_FIRST_MS = 1_000;

/** What the alarm does: a part of the items, or the end. It may come early, twice, or without reason. */
export async function run(operation: Operation): Promise<void> {
  const row = operation.row();
  if (row === null) return;
  const { alarm } = operation;
  if (row.state === "selecting") {
    if (operation.selecting) alarm.ensure(Date.now() + LIMITS.bulkSelectionMs);
    else await operation.empty();
    return;
  }
  if (row.finishedAt !== null) {
    const eraseAt = row.finishedAt + LIMITS.bulkKeptMs;
    if (Date.now() < eraseAt) alarm.ensure(eraseAt);
    else await operation.empty();
    return;
  }
  alarm.ensure(Date.now() + DEAD_MAN_MS);
  const next = await actOnGroups(operation, row);
  conclude(operation, next);
}

/** Acts on groups in order until the time or the number of one alarm is used up; the number of the first item not begun. */
async function actOnGroups(operation: Operation, row: OperationRow): Promise<number> {
  const { db } = operation;
  const permits = new Permits(LIMITS.bulkConcurrency, REST_AFTER);
  const until = Date.now() + RUN_MS;
  const again = waitingGroups(db, AGAIN_MOST).filter(
    ({ dueAt }) => (dueAt as number) <= Date.now(),
  );
  let next = nextNumber(db);
  let begun = 0;
  const underWay: Promise<void>[] = [];
  for (;;) {
    while (underWay.length < GROUPS_AT_ONCE) {
      if (begun >= LIMITS.bulkItemsPerAlarm || Date.now() >= until) break;
      let group = again.shift();
      if (group === undefined) {
        const end = Math.min(next + ITEMS_PER_GROUP, endOf(operation));
        if (next >= end || countWaiting(db).count >= WAITING_MOST) break;
        const outcomes = Array.from({ length: end - next }, () => null);
        group = { first: next, attempts: 0, dueAt: null, outcomes };
        next += ITEMS_PER_GROUP;
      }
      begun += group.outcomes.length - settled(group);
      const work = actOnGroup(operation, permits, row.total, group, underWay.at(-1));
      // When one fails, nobody waits for those after it.
      work.catch(() => {});
      underWay.push(work);
    }
    const oldest = underWay.shift();
    if (oldest === undefined) return next;
    // oxlint-disable-next-line no-await-in-loop -- the others go on meanwhile
    await oldest;
  }
}

function settled({ outcomes }: GroupRow): number {
  const { succeeded, refused, failed } = countOutcomes(outcomes);
  return succeeded + refused + failed;
}

/** Items from this number on are not begun. */
function endOf(operation: Operation): number {
  const { total, stopAt } = operation.row() as OperationRow;
  return stopAt ?? total;
}

async function actOnGroup(
  operation: Operation,
  permits: Permits,
  total: number,
  group: GroupRow,
  before: Promise<void> | undefined,
): Promise<void> {
  const command = operation.command();
  const items = operation.items(group.first, group.first + group.outcomes.length);
  const known = countOutcomes(group.outcomes);
  const last = group.attempts + 1 >= LIMITS.bulkAttempts;
  const outcomes = await Promise.all(
    group.outcomes.map((outcome, index): Outcome | null | Promise<Outcome | null> => {
      if (outcome !== null && outcome.outcome !== "pending") return outcome;
      return permits.run(async () => {
        const number = group.first + index;
        if (outcome === null) {
          if (number >= endOf(operation)) return null;
          operation.begin(number, total);
        }
        await wakingTurn(operation.env);
        const now = await act(operation.env, command, items[index] as [string, string]);
        return last && now.outcome === "pending" ? { ...now, outcome: "failed" } : now;
      });
    }),
  );
  // In order: what stands before the first item without a row has one.
  await before;
  const attempts = group.attempts + 1;
  const waits = outcomes.some((one) => one?.outcome === "pending");
  const dueAt = waits ? Date.now() + RETRY_FIRST_MS * 2 ** group.attempts : null;
  operation.save({ first: group.first, attempts, dueAt, outcomes }, known);
}

/** The operation has ended, or an alarm goes on with it. */
function conclude(operation: Operation, next: number): void {
  const { db, alarm } = operation;
  const waiting = countWaiting(db);
  const more = next < endOf(operation);
  const now = Date.now();
  if (!more && waiting.count === 0) {
    const { state } = operation.row() as OperationRow;
    updateState(db, { state: state === "cancelling" ? "cancelled" : "done", finishedAt: now });
    alarm.ensure(now + LIMITS.bulkKeptMs);
    return;
  }
  alarm.ensure(more && waiting.count < WAITING_MOST ? now : Math.max(waiting.dueAt ?? 0, now));
}
