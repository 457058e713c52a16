import type { Effect } from "../../../examples/outside/receiver.ts";
import type { Acknowledged, Job } from "./job.ts";
import type { Answered, Mortal } from "./mortal.ts";

/** The fields of a record that are looked at. */
interface Seen {
  seq: number;
  kind: string;
  key: string | null;
}

type Hold = (holds: boolean, what: string, found: unknown) => void;

/** Everything that is wrong with a job after all kills; nothing is what a run wants to hear. */
export async function wrongWith(
  job: Job,
  acknowledged: readonly Acknowledged[],
  effects: readonly Effect[],
  server: Mortal,
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
  hold(actor.stateValue === job.state, `is not ${job.state}`, actor.stateValue);
  const misfit = job.misfit(actor.context);
  hold(misfit === null, "its context does not fit", misfit);
  const uids = [actor.uid];
  for (const child of job.children(actor.context)) {
    uids.push((await lookAt(child, [], server, about(child))).uid);
  }

  const done = effects.filter(({ body }) => body["orderId"] === id);
  const services = done.map(({ service }) => service);
  const areRight = JSON.stringify(services) === JSON.stringify(job.effects);
  hold(areRight, `the effects are not ${job.effects.join(", ")}`, services);
  const strangers = done.filter(({ key }) => !uids.includes(key.split(":")[0]));
  hold(strangers.length === 0, "a key is of another actor", strangers);
  return wrong;
}

/** One actor that has ended: nothing is open, and its log is whole. */
async function lookAt(
  id: string,
  acknowledged: readonly Acknowledged[],
  server: Mortal,
  hold: Hold,
): Promise<Answered["body"]> {
  const path = `/v1/actors/${encodeURIComponent(id)}`;
  const { body: actor } = await server.call("GET", path, "-");
  hold(actor.status === "done", "is not done", actor.status);
  hold(actor.needsAttention?.length === 0, "needs attention", actor.needsAttention);
  const open = actor.activities.filter(({ status }: { status: string }) =>
    ["running", "retrying"].includes(status),
  );
  hold(open.length === 0, "something is still under way", open);

  const { body: exported } = await server.call("GET", `${path}/export`, "-");
  hold(exported.outbox?.length === 0, "its outbox is not empty", exported.outbox);
  const log = (await server.call("GET", `${path}/events?limit=200`, "-")).body.items as Seen[];
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  hold(gap === -1 && log.length === actor.seq, "the log has a gap", log);
  const births = log.filter(({ kind }) => kind === "spawned").length;
  hold(births === 1, "is not born once", births);
  for (const { key, seq } of acknowledged) {
    const found = log.filter((record) => record.key === key).map((record) => record.seq);
    hold(found.length === 1 && found[0] === seq, `${key} is not there once, as ${seq}`, found);
  }

  const { body: replay } = await server.call("POST", `${path}/replay`, "-", {});
  hold(replay.identical === true, "its replay is another", replay);
  return actor;
}
