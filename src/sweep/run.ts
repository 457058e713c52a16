import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { given } from "../base/refused.ts";
import { within } from "../base/within.ts";
import { shardCount } from "../directory/shards.ts";
import type { SweepOrder } from "../registry/rpc.ts";
import type { Db } from "../storage/db.ts";
import { dueFailures, failuresOf, reviveFailures } from "../storage/sweep-failures.ts";
import { askCandidates, newPermits, noteFaults } from "./ask-candidates.ts";
import type { Asked } from "./ask-candidates.ts";
import { advance, ask, begin, behind, conclude, countUnlisted } from "./course.ts";
import type { Course, Place } from "./course.ts";
import { readPage } from "./pages.ts";
import type { CandidatePage } from "./pages.ts";
import type { Sweep } from "./sweep.ts";

/** ms after which an alarm goes on with what a crash has cut off. */
const DEAD_MAN_MS = 5_000;
/** ms in which one alarm begins pages; the platform ends it after 15 minutes. */
const RUN_MS = 60_000;
/** Calls that one alarm makes at most: an invocation may make some thousand. */
const CALLS_MOST = 2 * LIMITS.sweepPage;
/** Actors out of reach that are tried again beside one page. */
const AGAIN_MOST = 100;

/** What the alarm does: a page or some, until the sweep rests. It may come early, twice, or without reason. */
export async function run(sweep: Sweep): Promise<void> {
  if (sweep.stored() === null) return;
  const { alarm } = sweep;
  if (sweep.lost !== null) {
    alarm.ensure(Date.now() + DEAD_MAN_MS);
    const order = await sweep.look();
    if (order !== null) await askAgain(sweep, order, sweep.lost);
    sweep.lost = null;
  }
  const until = Date.now() + RUN_MS;
  let calls = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    let order = await sweep.look();
    if (order === null) break;
    let step = sweep.step(order);
    if (step.do === "conclude") {
      // oxlint-disable-next-line no-await-in-loop
      order = await sweep.look(true);
      if (order === null) break;
      step = sweep.step(order);
    }
    switch (step.do) {
      case "rest":
        sweep.ahead.forget();
        return;
      case "wait":
        sweep.ahead.forget();
        alarm.ensure(step.until);
        return;
      case "tell":
        // oxlint-disable-next-line no-await-in-loop
        await tell(sweep);
        continue;
      case "begin":
        sweep.save(sweep.name, begin(sweep.course), (db) => reviveFailures(db, Date.now()));
        continue;
      case "conclude":
        sweep.save(sweep.name, conclude(sweep.course, Date.now()));
        continue;
      case "try again":
      case "page": {
        const place = step.do === "page" ? step.place : null;
        const now = Date.now();
        const { dueAt } = sweep.failures();
        if (place === null && dueAt !== null && now < dueAt) {
          alarm.ensure(dueAt);
          return;
        }
        if (calls + LIMITS.sweepPage > CALLS_MOST || now >= until) {
          alarm.ensure(now);
          return;
        }
        alarm.ensure(now + DEAD_MAN_MS);
        // oxlint-disable-next-line no-await-in-loop
        calls += await work(sweep, order, place);
      }
    }
  }
  sweep.ahead.forget();
}

/** Asks the actors of a page, and some of those that are to be tried again; how many calls that took. */
async function work(sweep: Sweep, order: SweepOrder, place: Place | null): Promise<number> {
  const { env, name, db, ahead } = sweep;
  const again = dueFailures(db, Date.now(), AGAIN_MOST).map(({ id, uid }) => ({ id, uid }));
  let page: CandidatePage = { items: [], looked: 0, next: null };
  let next: Place | null = null;
  if (place !== null) {
    const shards = await within(LIMITS.sweepCallMs, shardCount(env, name.tenant, false));
    if (shards !== null) {
      page = await ahead.take(name.tenant, order, place);
      if (place.stage === "pending" && sweep.failures().listed > 0) page = withoutListed(db, page);
      next = behind(place, page.next, shards);
      // The second stage has whoever the first has not moved, so it is not fetched beside it.
      if (next?.stage === place.stage) ahead.fetch(name.tenant, order, next);
    }
  }
  if (place !== null && page.items.length > 0) sweep.save(name, ask(sweep.course, place));
  const permits = newPermits();
  const whileRunning = () => sweep.course.state === "running";
  const [asked, repeated] = await Promise.all([
    askCandidates(sweep, permits, order.epoch, page.items, whileRunning),
    askCandidates(sweep, permits, order.epoch, again, whileRunning),
  ]);
  const course = place === null ? sweep.course : passed(sweep.course, place, next, page, asked);
  save(sweep, course, [...asked, ...repeated]);
  return 1 + asked.length + repeated.length;
}

/** Who could not be asked in the first stage is tried again as the list says, wherever the pass is. */
function withoutListed(db: Db, page: CandidatePage): CandidatePage {
  const ids = page.items.map(({ id }) => id);
  const listed = new Set(failuresOf(db, ids).map(({ id }) => id));
  return { ...page, items: page.items.filter(({ id }) => !listed.has(id)) };
}

/**
 * Asks the page that an earlier life was asking when it ended: who had moved tells the directory. All of it, since the rule
 * may be paused or take fewer by now; it moves nobody whom it does not take.
 */
async function askAgain(sweep: Sweep, order: SweepOrder, place: Place): Promise<void> {
  const all = { ...order, query: { ...order.query, percent: 100 } };
  const { items } = await readPage(sweep.env, sweep.name.tenant, all, place);
  const asked = await askCandidates(sweep, newPermits(), order.epoch, items, () => true);
  save(sweep, { ...sweep.course, asking: null }, asked);
}

/** How far it is after a page, all of whose actors are through, or the first of them where the sweep was stopped. */
function passed(
  course: Course,
  place: Place,
  next: Place | null,
  { items, looked }: CandidatePage,
  asked: Asked[],
): Course {
  const woken = asked.length;
  if (woken === items.length) return advance(course, next, { looked, woken });
  const after = asked.at(-1)?.actor.id ?? place.after;
  return advance(course, { ...place, after }, { looked: woken, woken });
}

/** Where nobody failed and nobody is listed this is one row. */
function save(sweep: Sweep, course: Course, asked: Asked[]): void {
  const { listed } = sweep.failures();
  if (listed === 0 && asked.every(({ fault }) => fault === null)) {
    sweep.save(sweep.name, course);
    return;
  }
  const room = LIMITS.sweepFailuresKept - listed;
  sweep.db.transaction(() => {
    const unlisted = noteFaults(sweep.db, asked, room);
    sweep.save(sweep.name, countUnlisted(sweep.course, course, unlisted), () => {});
  });
}

async function tell(sweep: Sweep): Promise<void> {
  const { env, name, course } = sweep;
  const { tenant, ruleId } = name;
  const epoch = course.done ?? 0;
  const call = callObject(env.REGISTRY, tenant, true, (registry) =>
    registry.swept({ ruleId, epoch }),
  );
  given(await within(LIMITS.sweepCallMs, call));
  sweep.save(name, { ...sweep.course, told: epoch });
}
