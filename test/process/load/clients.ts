import type { Outside } from "../../../examples/outside/server.ts";
import { notThereOnce, wrongWith } from "../crash/check.ts";
import { oneOf } from "../crash/dice.ts";
import type { Acknowledged, Job } from "../crash/job.ts";
import type { Reply } from "./line.ts";
import type { Observed } from "./observed.ts";
import type { Voice } from "./voice.ts";

const DAY_MS = 86_400_000;

/** Everything that the lives of one run have in common. */
export interface Run {
  observed: Observed;
  outside: Outside;
  /** Actors that were left asleep, and what they acknowledged. */
  asleep: Map<string, Acknowledged[]>;
  lives: number;
}

/** Spawns actors and lives with each until it ends, one after the other. */
export async function liveAs(
  name: string,
  voice: Voice,
  run: Run,
  random: () => number,
  ends: AbortSignal,
): Promise<void> {
  for (let count = 0; !ends.aborted; count += 1) {
    if (count % 5 === 0) await leaveAsleep(`${name}-asleep-${count}`, voice, run);
    await new Life(`${name}-${count}`, voice, run, random).live();
    run.lives += 1;
  }
}

/** An actor that waits for tomorrow. */
async function leaveAsleep(id: string, voice: Voice, { outside, asleep }: Run): Promise<void> {
  const input = { outside: outside.url };
  const body = { definitionId: "errand-v1", id, input };
  await voice.say("spawn", "POST", "/v1/actors", { key: `${id}-spawn`, body });
  const events = `/v1/actors/${id}/events`;
  const added = await voice.say("event", "POST", events, { key: id, body: { type: "ADD" } });
  const later = { type: "BELL", delayMs: DAY_MS };
  await voice.say("schedule", "POST", `/v1/actors/${id}/schedule`, { key: "bell", body: later });
  asleep.set(id, [{ key: id, seq: added.body.seq }]);
}

/** It has what it acknowledged, once, and waits on. */
export async function wrongWithSleeper(
  id: string,
  acknowledged: readonly Acknowledged[],
  voice: Voice,
): Promise<string[]> {
  const { body } = await voice.say("sleeper", "GET", `/v1/actors/${id}/events`);
  const lost = notThereOnce(body.items, acknowledged);
  return lost.map((found) => `${id}: an event is not there once: ${JSON.stringify(found)}`);
}

/** One actor from its spawn to its end, and what must have become of it. */
class Life {
  readonly #id: string;
  readonly #voice: Voice;
  readonly #run: Run;
  readonly #random: () => number;
  readonly #acknowledged: Acknowledged[] = [];
  readonly #done = { adds: 0, bells: 0, calls: 0 };

  constructor(id: string, voice: Voice, run: Run, random: () => number) {
    this.#id = id;
    this.#voice = voice;
    this.#run = run;
    this.#random = random;
  }

  async live(): Promise<void> {
    const spawn = { definitionId: "errand-v1", id: this.#id, input: this.#input };
    await this.#twice("spawn", "/v1/actors", `${this.#id}-spawn`, spawn);
    const steps = 3 + Math.floor(this.#random() * 6);
    for (let step = 0; step < steps; step += 1) await oneOf(STEPS, this.#random)(this);
    await this.#event("END", { bells: this.#done.bells });
    await this.#wait("done=true");
    await this.#check();
    if (this.#random() < 0.5) await this.#erase();
  }

  async add(): Promise<void> {
    this.#done.adds += 1;
    await this.#event("ADD");
  }

  async bell(): Promise<void> {
    this.#done.bells += 1;
    const body = { type: "BELL", delayMs: Math.floor(this.#random() * 1_500) };
    await this.#twice("schedule", `${this.#path}/schedule`, `bell-${this.#done.bells}`, body);
  }

  async call(): Promise<void> {
    this.#done.calls += 1;
    await this.#event("CALL");
    await this.#wait("state=open");
  }

  async hand(): Promise<void> {
    await this.#event("HAND");
    await this.#wait("state=open");
  }

  async nap(): Promise<void> {
    await this.#event("NAP");
    await this.#wait("state=open");
  }

  async read(): Promise<void> {
    const { body } = await this.#voice.say("read", "GET", this.#path);
    this.#hold(body.context?.n === this.#done.adds, "does not count what it acknowledged", body);
  }

  async list(): Promise<void> {
    const { body } = await this.#voice.say("list", "GET", "/v1/actors?status=active&limit=20");
    this.#hold(Array.isArray(body.items), "a list has no items", body);
  }

  async count(): Promise<void> {
    await this.#voice.say("count", "GET", "/v1/actors/count?groupBy=status");
  }

  async health(): Promise<void> {
    await this.#voice.say("health", "GET", "/v1/health");
  }

  get #path(): string {
    return `/v1/actors/${this.#id}`;
  }

  get #input(): object {
    return { outside: this.#run.outside.url };
  }

  async #event(type: string, payload: object = {}): Promise<void> {
    const key = `${this.#id}-${this.#acknowledged.length}`;
    const { body } = await this.#twice("event", `${this.#path}/events`, key, { type, payload });
    this.#hold(body.handled === true, `${type} is not handled`, body);
    this.#acknowledged.push({ key, seq: body.seq });
  }

  /** A keyed request, which every fifth time is sent again: it acts once and is answered as before. */
  async #twice(kind: string, path: string, key: string, body: object): Promise<Reply> {
    const first = await this.#voice.say(kind, "POST", path, { key, body });
    if (this.#random() >= 0.2) return first;
    const again = await this.#voice.say(kind, "POST", path, { key, body });
    const same = JSON.stringify(again.body) === JSON.stringify(first.body);
    this.#hold(same && again.status === first.status, `a repeat of ${key} is another`, again);
    return first;
  }

  async #wait(condition: string): Promise<void> {
    const path = `${this.#path}/wait?${condition}&timeoutMs=50000`;
    const { body } = await this.#voice.say("wait", "GET", path);
    this.#hold(body.matched === true, `waited for ${condition} in vain`, body);
  }

  async #check(): Promise<void> {
    const { adds, bells, calls } = this.#done;
    const job: Job = {
      id: this.#id,
      definitionId: "errand-v1",
      input: this.#input,
      events: [],
      paused: false,
      ends: [{ state: "done", effects: Array<string>(calls).fill("mail/send") }],
      misfit: ({ n, bells: rung }) => (n === adds && rung === bells ? null : { n, rung, adds }),
      children: () => [],
    };
    const call = (method: string, path: string, key: string, body?: object) => {
      const kind = path.endsWith(this.#id)
        ? "read"
        : (path.slice(this.#path.length + 1).split("?")[0] as string);
      return this.#voice.say(`${method} ${kind}`, method, path, { key, ...(body && { body }) });
    };
    const { effects } = this.#run.outside.receiver;
    const wrong = await wrongWith(job, this.#acknowledged, effects, { call });
    this.#run.observed.wrong.push(...wrong);
  }

  async #erase(): Promise<void> {
    await this.#voice.say("delete", "DELETE", this.#path);
    await this.#voice.say("read", "GET", this.#path, {}, ["actor_not_found"]);
  }

  #hold(holds: boolean, what: string, found: unknown): void {
    if (!holds) this.#run.observed.wrong.push(`${this.#id}: ${what}: ${JSON.stringify(found)}`);
  }
}

/** What a life may do next; what stands here more often happens more often. */
const STEPS: readonly ((life: Life) => Promise<void>)[] = [
  (life) => life.add(),
  (life) => life.add(),
  (life) => life.add(),
  (life) => life.add(),
  (life) => life.read(),
  (life) => life.read(),
  (life) => life.list(),
  (life) => life.count(),
  (life) => life.health(),
  (life) => life.health(),
  (life) => life.bell(),
  (life) => life.bell(),
  (life) => life.call(),
  (life) => life.hand(),
  (life) => life.nap(),
];

/** Claims tasks and completes each, every tenth one twice. */
export async function workAs(
  worker: string,
  voice: Voice,
  random: () => number,
  ends: AbortSignal,
): Promise<void> {
  while (!ends.aborted) {
    const claim = { worker, waitMs: 1_000, leaseMs: 10_000 };
    const path = "/v1/queues/errands/claim";
    const { body } = await voice.say("claim", "POST", path, { body: claim });
    for (const { id, leaseToken } of body.tasks ?? []) {
      const complete = { leaseToken, output: { by: worker } };
      const times = random() < 0.1 ? 2 : 1;
      for (let time = 0; time < times; time += 1) {
        const place = `/v1/tasks/${encodeURIComponent(id)}/complete`;
        // A lease may end on a machine that stands still.
        const expected = ["lease_lost", "task_closed"];
        await voice.say("complete", "POST", place, { key: id, body: complete }, expected);
      }
    }
  }
}
