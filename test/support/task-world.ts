import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { DEFAULT_POLICY } from "../../src/activities/policy-input.ts";
import type { Outcome } from "../../src/activities/types.ts";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { Reply } from "../../src/base/reply.ts";
import type { Env } from "../../src/env.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { Db } from "../../src/storage/db.ts";
import { bringResult } from "../../src/tasks/bring-result.ts";
import { claimReady } from "../../src/tasks/claim.ts";
import { DueKeeper } from "../../src/tasks/due-keeper.ts";
import { enqueue, withdraw } from "../../src/tasks/enqueue.ts";
import { heartbeat } from "../../src/tasks/heartbeat.ts";
import { Queue } from "../../src/tasks/queue.ts";
import type { SettleCommand } from "../../src/actor/rpc.ts";
import { completion, failure } from "../../src/tasks/sayings.ts";
import { Teller } from "../../src/tasks/tell-actor.ts";
import { queueObject } from "./tasks.ts";

const START = Date.parse("2030-01-01T00:00:00.000Z");
const UID = "a".repeat(32);

export interface Lease {
  task: number;
  token: string;
  attempt: number;
}

/** What the actors of a world know: one activity each. */
interface Ending {
  outcome: Outcome | "cancelled";
}

/** The verbs of a queue on its real tables, with actors that only keep results, and a clock that is set by hand. */
export class TaskWorld {
  readonly endings = new Map<number, Ending>();
  /** Results that actors took; a task has at most one. */
  readonly taken = new Map<number, number>();
  reachable = true;
  /** What actors answer is lost: they have taken a result, and nobody hears of it. */
  mute = false;
  readonly #name: string;
  readonly #storage: DurableObjectStorage;
  #queue!: Queue;
  #teller!: Teller;
  #due!: DueKeeper;
  #keys = 0;
  #background: Promise<unknown>[] = [];

  constructor(name: string, storage: DurableObjectStorage) {
    this.#name = name;
    this.#storage = storage;
    this.wake();
  }

  /** A new object on the same storage: what was in memory is gone. */
  wake(): void {
    const db = new Db(this.#storage);
    const silent = { getAlarm: async () => null, setAlarm: async () => {} };
    this.#queue = new Queue({
      env: this.#env(),
      db,
      alarm: new AlarmClock(silent, db),
      inBackground: (work) => void this.#background.push(work),
    });
    this.#teller = new Teller(this.#queue);
    this.#due = new DueKeeper(this.#queue, this.#teller, () => {});
  }

  advance(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  async add(task: number, maxAttempts: number): Promise<void> {
    await enqueue(this.#queue, {
      tenant: "default",
      queue: this.#name,
      order: {
        taskId: this.idOf(task),
        kind: "task",
        actor: { id: `actor-${task}`, uid: UID, definitionId: "d" },
        ref: `1:${task}`,
        activityId: "work",
        input: { task },
        title: null,
        form: null,
        leaseMs: 1_000,
        retry: { ...DEFAULT_POLICY, maxAttempts, initialMs: 100, factor: 1, jitter: false },
        unclaimedMs: 200_000,
        assignee: null,
        remindersSent: 0,
        escalatedTo: null,
        expiresAt: null,
      },
    });
  }

  claim(max: number): Lease[] {
    this.#due.fire();
    return claimReady(this.#queue, { worker: "w", max, leaseMs: null }, Date.now()).map((task) => ({
      task: (task["input"] as { task: number }).task,
      token: task["leaseToken"] as string,
      attempt: task["attempts"] as number,
    }));
  }

  async complete({ task, token }: Lease, output: JsonValue): Promise<Reply> {
    const command = { ...this.#said(task, token), output };
    return this.#bring(command, await completion(command));
  }

  async fail({ task, token }: Lease, retryable: boolean): Promise<Reply> {
    const error = { code: "broken", message: "" };
    const command = { ...this.#said(task, token), error, retryable };
    return this.#bring(command, await failure(command));
  }

  heartbeat({ task, token }: Lease): Reply {
    return heartbeat(this.#queue, { taskId: this.idOf(task), leaseToken: token, details: null });
  }

  /** Its actor leaves the state; `told`: it has taken the task back. */
  async cancel(task: number, told: boolean): Promise<void> {
    if (!this.endings.has(task)) this.endings.set(task, { outcome: "cancelled" });
    if (!told) return;
    const order = { tenant: "default", queue: this.#name, taskId: this.idOf(task) };
    await withdraw(this.#queue, { ...order, status: "cancelled" });
  }

  /** The alarm. */
  async ring(): Promise<void> {
    await this.#due.ring();
    await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#background.splice(0));
  }

  idOf(task: number): string {
    return `${this.#name}.${UID}:1:${task}`;
  }

  statusOf(task: number): string | undefined {
    const sql = "SELECT status FROM tasks WHERE task_id = ?";
    return this.#storage.sql.exec(sql, this.idOf(task)).toArray()[0]?.["status"] as string;
  }

  #said(task: number, leaseToken: string) {
    const key = `k${++this.#keys}`;
    return { taskId: this.idOf(task), leaseToken, by: null, principal: "p", key, request: key };
  }

  #bring(
    command: Parameters<typeof bringResult>[1],
    saying: Parameters<typeof bringResult>[2],
  ): Promise<Reply> {
    const desk = { queue: this.#queue, teller: this.#teller, serve: () => {} };
    return bringResult(desk, command, saying);
  }

  #env(): Env {
    const settle = async (command: SettleCommand) => {
      if (!this.reachable) throw new Error("The actor cannot be reached.");
      const settled = take(command);
      if (this.mute) throw new Error("The actor's answer is lost.");
      return settled;
    };
    const take = ({ ref, outcome }: SettleCommand) => {
      const task = Number(ref.split(":")[1]);
      const ending = this.endings.get(task);
      if (ending === undefined) {
        this.endings.set(task, { outcome });
        this.taken.set(task, (this.taken.get(task) ?? 0) + 1);
        return settledAs(true, null, false);
      }
      if (ending.outcome === "cancelled") return settledAs(false, "cancelled", false);
      const same = saying(ending.outcome) === saying(outcome);
      return settledAs(false, "output" in ending.outcome ? "completed" : "failed", same);
    };
    const noteQueue = async () => ({ ok: true, status: 204, body: null });
    const env = {
      ACTORS: { getByName: () => ({ settle }) },
      REGISTRY: { getByName: () => ({ noteQueue, watch: async () => {} }) },
    };
    return env as unknown as Env;
  }
}

function settledAs(taken: boolean, status: string | null, same: boolean) {
  return { ok: true, status: 200, body: { taken, status, same } };
}

function saying(outcome: Outcome): string {
  return canonicalJson(outcome as unknown as JsonObject);
}

/** Plays with a world of its own. */
export async function inTaskWorld(
  name: string,
  play: (world: TaskWorld) => Promise<void>,
): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
  try {
    await runInDurableObject(queueObject(name), (_, state) =>
      play(new TaskWorld(name, state.storage)),
    );
  } finally {
    vi.useRealTimers();
  }
}
