import { isDeepStrictEqual } from "node:util";
import type { Effect } from "../../../examples/outside/receiver.ts";
import type { Acknowledged, Job } from "./job.ts";
import type { Answered, Server } from "./server.ts";

/** The fields of a record that are looked at. */
interface Seen {
  seq: number;
  kind: string;
  type: string | null;
  key: string | null;
  reason: string | null;
  payload: { ref?: string } | null;
  effects: { kind: string; ref: string }[];
  at: string;
  timer: { id: string; dueAt: string; again?: true } | null;
}

type Hold = (holds: boolean, what: string, found: unknown) => void;

/** Everything that is wrong with a job after all kills; nothing is what a run wants to hear. */
export async function wrongWith(
  job: Job,
  acknowledged: readonly Acknowledged[],
  effects: readonly Effect[],
  server: Server,
): Promise<string[]> {
  const { id } = job;
  const wrong: string[] = [];
  const about =
    (actorId: string): Hold =>
    (holds, what, found) => {
      if (!holds) wrong.push(`${actorId}: ${what}: ${JSON.stringify(found)}`);
    };
  const hold = about(id);

  const actor = await lookAt(id, acknowledged, server, hold);
  const misfit = job.misfit(actor.context);
  hold(misfit === null, "its context does not fit", misfit);
  const uids = [actor.uid];
  for (const child of job.children(actor.context)) {
    uids.push((await lookAt(child, [], server, about(child))).uid);
  }

  const done = effects.filter(({ body }) => body["orderId"] === id);
  const end = { state: actor.stateValue, effects: done.map(({ service }) => service) };
  hold(
    job.ends.some((one) => isDeepStrictEqual(one, end)),
    `did not end as ${JSON.stringify(job.ends)}`,
    end,
  );
  const strangers = done.filter(({ key }) => !uids.includes(key.split(":")[0]));
  hold(strangers.length === 0, "a key is of another actor", strangers);
  return wrong;
}

/** Everything that is wrong with an actor that waits, on this version. */
export async function wrongWithLiving(
  id: string,
  definitionId: string,
  server: Server,
): Promise<string[]> {
  const wrong: string[] = [];
  const hold: Hold = (holds, what, found) => {
    if (!holds) wrong.push(`${id}: ${what}: ${JSON.stringify(found)}`);
  };
  const actor = await lookAt(id, [], server, hold, "active");
  hold(actor.definitionId === definitionId, `is not on ${definitionId}`, actor.definitionId);
  return wrong;
}

/** One actor that has ended, or waits: nothing is open, and its log is whole. */
async function lookAt(
  id: string,
  acknowledged: readonly Acknowledged[],
  server: Server,
  hold: Hold,
  status: "done" | "active" = "done",
): Promise<Answered["body"]> {
  const path = `/v1/actors/${encodeURIComponent(id)}`;
  const { body: actor } = await server.call("GET", path, "-");
  hold(actor.status === status, `is not ${status}`, actor.status);
  hold(actor.needsAttention?.length === 0, "needs attention", actor.needsAttention);
  const underWay = actor.activities.filter(({ status }: { status: string }) =>
    ["running", "retrying"].includes(status),
  );
  hold(underWay.length === 0, "something is still under way", underWay);

  const { body: exported } = await server.call("GET", `${path}/export`, "-");
  hold(exported.outbox?.length === 0, "its outbox is not empty", exported.outbox);
  const log = (await server.call("GET", `${path}/events?limit=200`, "-")).body.items as Seen[];
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  hold(
    gap === -1 && log.length === actor.seq,
    "the log has a gap",
    log.map(({ seq }) => seq),
  );
  const births = log.filter(({ kind }) => kind === "spawned").length;
  hold(births === 1, "is not born once", births);
  const lost = notThereOnce(log, acknowledged);
  hold(lost.length === 0, "acknowledged events are not there once, as the answers said", lost);

  const fired = misfired(log);
  hold(fired.length === 0, "timers have not fired once, when they were due", fired);

  const open = notEndedOnce(log);
  hold(open.length === 0, "activities have not ended once", open);

  const { body: replay } = await server.call("POST", `${path}/replay`, "-", {});
  hold(replay.identical === true, "its replay is another", replay);
  return actor;
}

/** Acknowledged events that a log does not have exactly once, with the number that the answer said. */
export function notThereOnce(
  log: readonly Pick<Seen, "seq" | "key">[],
  acknowledged: readonly Acknowledged[],
): (Acknowledged & { found: number[] })[] {
  const byKey = Map.groupBy(log, ({ key }) => key);
  return acknowledged.flatMap(({ key, seq }) => {
    const found = (byKey.get(key) ?? []).map((record) => record.seq);
    return found.length === 1 && found[0] === seq ? [] : [{ key, seq, found }];
  });
}

/** Timers that fired too early, or a second time. */
function misfired(log: readonly Seen[]): Seen["timer"][] {
  const fired = log.filter(({ kind, timer }) => kind === "timer" && timer !== null);
  return fired
    .filter(({ at, timer }, index) => {
      const before = fired.slice(0, index).some((other) => other.timer?.id === timer?.id);
      return Date.parse(at) < Date.parse(timer?.dueAt ?? "") || (before && !timer?.again);
    })
    .map(({ timer }) => timer);
}

/** Activities that were started and have no end, or two: a result that was taken, or that nobody waits any more. */
function notEndedOnce(log: readonly Seen[]): string[] {
  const effects = log.flatMap((record) => record.effects);
  const ended = [
    ...log.filter(isEnd).map(({ payload }) => payload?.ref),
    ...effects.filter(({ kind }) => kind === "cancel").map(({ ref }) => ref),
  ];
  const started = effects.filter(({ kind }) => kind === "start").map(({ ref }) => ref);
  return started.filter((ref) => ended.filter((one) => one === ref).length !== 1);
}

/** A child's end is the end of all only where it names the activity. */
function isEnd({ kind, type, reason }: Seen): boolean {
  if (reason === "late") return false;
  return /^activity_(done|failed)$/.test(kind) || (kind.startsWith("child_") && type !== null);
}
