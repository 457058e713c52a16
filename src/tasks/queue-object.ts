import { DurableObject } from "cloudflare:workers";
import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { asData } from "../base/refused.ts";
import { answer } from "../base/reply.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { countReady, nextReadyAt } from "../storage/queue-tasks.ts";
import { bringResult } from "./bring-result.ts";
import type { Saying } from "./bring-result.ts";
import { change, update } from "./change.ts";
import { claimReady } from "./claim.ts";
import { DueKeeper } from "./due-keeper.ts";
import { enqueue, withdraw } from "./enqueue.ts";
import { heartbeat } from "./heartbeat.ts";
import { Queue } from "./queue.ts";
import { list, read, stats } from "./read.ts";
import type * as Rpc from "./rpc.ts";
import { completion, decision, failure } from "./sayings.ts";
import { Teller } from "./tell-actor.ts";
import { WaitingLine } from "./waiting-line.ts";

/** One queue of tasks. Reading one that nothing was ever put into writes nothing. */
export class QueueObject extends DurableObject<Env> implements Rpc.QueueRpc {
  readonly #db: Db;
  readonly #queue: Queue;
  readonly #teller: Teller;
  readonly #line: WaitingLine;
  readonly #due: DueKeeper;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
    const alarm = new AlarmClock(ctx.storage, this.#db);
    const inBackground = (work: Promise<unknown>) => ctx.waitUntil(work);
    const queue = new Queue({ env, db: this.#db, alarm, inBackground });
    this.#queue = queue;
    this.#teller = new Teller(queue);
    this.#line = new WaitingLine({
      claim: (query, now) => claimReady(queue, query, now),
      readyAt: () => {
        const db = queue.stored();
        return db && nextReadyAt(db);
      },
      ready: (now, most) => {
        const db = queue.stored();
        return db === null ? 0 : countReady(db, now, most);
      },
    });
    this.#due = new DueKeeper(queue, this.#teller, this.#serve);
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#db.meter;
  }

  override async alarm(): Promise<void> {
    await this.#due.ring();
  }

  enqueue(command: Parameters<Rpc.QueueRpc["enqueue"]>[0]) {
    return this.#called(async () => {
      const { added, reply } = await enqueue(this.#queue, command);
      if (added) {
        this.#queue.beWatched();
        this.#serve();
      }
      return reply;
    });
  }

  withdraw(command: Parameters<Rpc.QueueRpc["withdraw"]>[0]) {
    return this.#called(() => withdraw(this.#queue, command));
  }

  update(command: Parameters<Rpc.QueueRpc["update"]>[0]) {
    return this.#called(() => update(this.#queue, command));
  }

  claim(query: Rpc.ClaimQuery) {
    return this.#called(async () => {
      this.#due.fire();
      if (query.waitMs > 0 && this.#line.full) {
        const detail = `${LIMITS.claimersPerQueue} callers wait for tasks of this queue, the limit claimersPerQueue. Try again later, or with waitMs 0.`;
        return refuse("rate_limited", detail);
      }
      return answer(200, { tasks: await this.#line.take(query) });
    });
  }

  complete(command: Parameters<Rpc.QueueRpc["complete"]>[0]) {
    return this.#bring(command, completion(command));
  }

  fail(command: Parameters<Rpc.QueueRpc["fail"]>[0]) {
    return this.#bring(command, failure(command));
  }

  decide(command: Parameters<Rpc.QueueRpc["decide"]>[0]) {
    return this.#bring(command, decision(command));
  }

  heartbeat(command: Parameters<Rpc.QueueRpc["heartbeat"]>[0]) {
    return this.#called(() => heartbeat(this.#queue, command));
  }

  change(command: Parameters<Rpc.QueueRpc["change"]>[0]) {
    return this.#called(() => change(this.#queue, command));
  }

  read({ taskId }: { taskId: string }) {
    return this.#called(() => read(this.#queue, taskId));
  }

  list(query: Rpc.ListQuery) {
    return this.#called(() => list(this.#queue, query));
  }

  stats() {
    return this.#called(() => stats(this.#queue, this.#line.length));
  }

  async tend(): Promise<boolean> {
    await this.#queue.alarm.known();
    if (this.#queue.stored() === null) return false;
    if (!this.#queue.alarm.isSet) this.#queue.ensureAlarm();
    return this.#queue.unended > 0;
  }

  #bring(
    command: Parameters<Rpc.QueueRpc["complete" | "fail" | "decide"]>[0],
    saying: Promise<Saying>,
  ) {
    return this.#called(async () => {
      const desk = { queue: this.#queue, teller: this.#teller, serve: this.#serve };
      return bringResult(desk, command, await saying);
    });
  }

  readonly #serve = (): void => {
    this.ctx.waitUntil(this.#line.serve());
  };

  /** A call, once it is known what alarm there is. */
  #called<Result>(call: () => Result | Promise<Result>) {
    return asData(async () => {
      await this.#queue.alarm.known();
      // One that was lost is made good by whoever comes.
      if (!this.#queue.alarm.isSet && this.#queue.stored() !== null) this.#queue.ensureAlarm();
      return call();
    });
  }
}
