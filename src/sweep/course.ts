import type { RuleState } from "../migration/rule.ts";

/** What of a rule its sweep goes by. */
export interface Orders {
  state: RuleState;
  /** Of the rule's last change. */
  epoch: number;
  /** ms; nobody is asked before. */
  inForceAt: number;
}

const STAGES = ["match", "pending"] as const;

/** Where a pass goes on: behind an id, in a shard, in a stage. */
export interface Place {
  stage: (typeof STAGES)[number];
  shard: number;
  after: string | null;
}

const FIRST: Place = { stage: "match", shard: 0, after: null };

/** How far a sweep is: all that is stored of it but the failures. */
export interface Course {
  /** `running` also while it waits for the rule to come into force, or for actors out of reach. */
  state: "none" | "running" | "paused" | "finished";
  /** The youngest epoch that is known. */
  epoch: number;
  /** Another pass was asked for. */
  again: boolean;
  /** The pass under way and the epoch that it began in. Its place is null once it has been everywhere. */
  pass: { epoch: number; place: Place | null } | null;
  /**
   * The page that is being asked. Where a new life finds one, some of its actors may have moved without the directory's
   * knowing: they are asked again, whatever became of the rule.
   */
  asking: Place | null;
  /** Epoch of the last pass that ended. */
  done: number | null;
  /** The registry knows that the sweep finished as of this epoch. */
  told: number | null;
  /** ms. */
  startedAt: number | null;
  finishedAt: number | null;
  visited: number;
  woken: number;
  /** Failures of this pass that there was no room to list; they are not tried again. */
  unlisted: number;
}

export const NOT_BEGUN: Course = {
  state: "none",
  epoch: -1,
  again: false,
  pass: null,
  asking: null,
  done: null,
  told: null,
  startedAt: null,
  finishedAt: null,
  visited: 0,
  woken: 0,
  unlisted: 0,
};

/** What is to be done next. */
export type Step =
  | { do: "rest" | "tell" | "begin" | "try again" | "conclude" }
  | { do: "wait"; until: number }
  | { do: "page"; place: Place };

/** The course after the rule was looked at. What is known already, or older than that, changes nothing. */
export function follow(course: Course, orders: Orders, again: boolean, now: number): Course {
  if (orders.epoch < course.epoch || (orders.epoch === course.epoch && !again)) return course;
  const next = { ...course, epoch: orders.epoch, again: course.again || again };
  if (orders.state === "retired") return retired(next, now);
  if (orders.state === "paused") {
    return course.state === "running" ? { ...next, state: "paused" } : next;
  }
  if (course.state === "running" || course.state === "paused") return { ...next, state: "running" };
  if (!isWanted(next)) return next;
  const counts = { visited: 0, woken: 0, unlisted: 0 };
  return { ...next, ...counts, state: "running", startedAt: now, finishedAt: null };
}

function retired(course: Course, now: number): Course {
  const next = { ...course, again: false, pass: null, done: course.epoch };
  if (course.state === "none" || course.state === "finished") return next;
  return { ...next, state: "finished", finishedAt: now };
}

/** The course where the rule is gone. One that comes back, with whatever epoch, is followed from the beginning. */
export function abandon(course: Course, now: number): Course {
  const { state, pass } = course;
  const ended = state === "none" || state === "finished";
  if (ended && pass === null && course.epoch === NOT_BEGUN.epoch) return course;
  const { epoch, done, told } = NOT_BEGUN;
  const next = { ...course, epoch, done, told, again: false, pass: null, asking: null };
  return ended ? next : { ...next, state: "finished", finishedAt: now };
}

/** Whether a pass is missing that began in the youngest epoch or later. */
function isWanted({ again, done, epoch }: Course): boolean {
  return again || done === null || done < epoch;
}

/** `waiting`: actors that are tried again in this pass; `crowded`: so many that something larger must be wrong. */
export function stepOf(
  course: Course,
  orders: Orders,
  failures: { waiting: boolean; crowded: boolean },
  now: number,
): Step {
  const { state, pass, done, told } = course;
  if (state !== "running") {
    const untold = state !== "paused" && done !== null && (told === null || told < done);
    return { do: untold ? "tell" : "rest" };
  }
  if (now < orders.inForceAt) return { do: "wait", until: orders.inForceAt };
  if (pass === null) return { do: "begin" };
  if (pass.place !== null && !failures.crowded) return { do: "page", place: pass.place };
  return { do: failures.waiting ? "try again" : "conclude" };
}

/** A pass over all shards, from their beginning. */
export function begin(course: Course): Course {
  const pass = { epoch: course.epoch, place: FIRST };
  return { ...course, again: false, pass, unlisted: 0 };
}

/** A page is about to be asked. */
export function ask(course: Course, place: Place): Course {
  return { ...course, asking: place };
}

/** The place behind a page that ended at `next`; null behind the last one. */
export function behind(place: Place, next: string | null, shards: number): Place | null {
  if (next !== null) return { ...place, after: next };
  if (place.shard + 1 < shards) return { ...place, shard: place.shard + 1, after: null };
  const stage = STAGES[STAGES.indexOf(place.stage) + 1];
  return stage === undefined ? null : { stage, shard: 0, after: null };
}

/** All actors before `place` are through. A rule that was retired meanwhile has no pass any more. */
export function advance(
  course: Course,
  place: Place | null,
  { looked, woken }: { looked: number; woken: number },
): Course {
  const pass = course.pass && { ...course.pass, place };
  return {
    ...course,
    pass,
    asking: null,
    visited: course.visited + looked,
    woken: course.woken + woken,
  };
}

/** `after` with what its page failed without a place on the list. Those of the first stage are met again in the second. */
export function countUnlisted(before: Course, after: Course, more: number): Course {
  const met = before.pass?.place?.stage === "match" && after.pass?.place?.stage === "pending";
  return { ...after, unlisted: met ? 0 : after.unlisted + more };
}

/** The pass has been everywhere and nobody is tried again. If the rule changed meanwhile, another one follows. */
export function conclude(course: Course, now: number): Course {
  if (course.pass === null) return course;
  const next = { ...course, pass: null, done: course.pass.epoch };
  return isWanted(next) ? next : { ...next, state: "finished", finishedAt: now };
}
