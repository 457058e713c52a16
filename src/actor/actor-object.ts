import { DurableObject } from "cloudflare:workers";
import type { Refused } from "../base/errors.ts";
import { asData } from "../base/refused.ts";
import type { Reply } from "../base/reply.ts";
import { streamQuery } from "../base/stream-call.ts";
import { keepsDirectory } from "../directory/shards.ts";
import type { Env } from "../env.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { abandon } from "./abandon.ts";
import { Announcer } from "./announcer.ts";
import { childEnded } from "./child-report.ts";
import { changeTask } from "./change-task.ts";
import { advanceClock } from "./clock.ts";
import { control, setRefs } from "./control.ts";
import { decisions } from "./decisions.ts";
import { erase } from "./erase.ts";
import { migrate } from "./migrate.ts";
import { exportHead, exportLog } from "./export.ts";
import { log } from "./log.ts";
import { read, wait } from "./read.ts";
import { timeline } from "./timeline.ts";
import { openStream } from "./open-stream.ts";
import { receive } from "./receive.ts";
import { replayLog, tryOn } from "./replay.ts";
import { Performer } from "./performer.ts";
import { Reporter } from "./reporter.ts";
import { Resident } from "./resident.ts";
import type * as Rpc from "./rpc.ts";
import { rescue } from "./rescue.ts";
import { rollback } from "./rollback.ts";
import { rouse } from "./rouse.ts";
import { DueRunner } from "./run-due.ts";
import { listSchedules, schedule, unschedule } from "./schedule.ts";
import { send, sendBatch } from "./send.ts";
import { settle } from "./settle.ts";
import { spawn } from "./spawn.ts";
import { Streams } from "./streams.ts";

/** The durable shell of one actor. It only wires: each verb has a file of its own. */
export class ActorObject extends DurableObject<Env> implements Rpc.ActorRpc {
  readonly #resident: Resident;
  readonly #due: DueRunner;
  readonly #streams: Streams;
  /** Null where no directory is kept. */
  readonly #reporter: Reporter | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    this.#resident = new Resident(db, env, new AlarmClock(ctx.storage, db));
    const inBackground = (work: Promise<unknown>) => ctx.waitUntil(work);
    if (keepsDirectory(env)) {
      this.#reporter = new Reporter(this.#resident, inBackground);
      this.#resident.observers.push(this.#reporter);
    }
    this.#resident.observers.push(new Announcer(this.#resident, inBackground));
    this.#resident.observers.push(new Performer(this.#resident, inBackground));
    this.#due = new DueRunner(this.#resident, () => ctx.storage.deleteAll());
    this.#streams = new Streams(this.#resident, {
      accept: (socket) => acceptStream(ctx, socket),
      all: () => ctx.getWebSockets(),
    });
    this.#resident.observers.push(this.#streams);
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#resident.db.meter;
  }

  override async alarm(): Promise<void> {
    await this.#due.run();
  }

  override async fetch(request: Request): Promise<Response> {
    const query = streamQuery<Rpc.StreamQuery>(request);
    const opened = await asData(() => openStream(this.#resident, this.#streams, query));
    return opened instanceof Response ? opened : Response.json(opened);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    await this.#streams.heard(socket, message);
  }

  /** A client that closes waits for an answer; one that is gone does not. */
  override webSocketClose(socket: WebSocket, _: number, __: string, wasClean: boolean): void {
    if (wasClean) socket.close(1000);
  }

  spawn(command: Rpc.SpawnCommand): Promise<Reply> {
    return asData(() => spawn(this.#resident, this.#reporter, command));
  }

  send(command: Rpc.SendCommand): Promise<Reply> {
    return asData(() => send(this.#resident, command));
  }

  batch(command: Rpc.BatchCommand): Promise<Reply> {
    return asData(() => sendBatch(this.#resident, command));
  }

  read(query: Parameters<Rpc.ActorRpc["read"]>[0]): Promise<Reply> {
    return asData(() => read(this.#resident, query));
  }

  log(query: Rpc.LogQuery): Promise<Reply> {
    return asData(() => log(this.#resident, query));
  }

  timeline(query: Parameters<Rpc.ActorRpc["timeline"]>[0]): Promise<Reply> {
    return asData(() => timeline(this.#resident, query));
  }

  wait(query: Rpc.WaitQuery): Promise<Reply> {
    return asData(() => wait(this.#resident, query));
  }

  schedule(command: Rpc.ScheduleCommand): Promise<Reply> {
    return asData(() => schedule(this.#resident, command));
  }

  schedules(query: Rpc.Address): Promise<Reply> {
    return asData(() => listSchedules(this.#resident, query));
  }

  unschedule(command: Parameters<Rpc.ActorRpc["unschedule"]>[0]): Promise<Reply> {
    return asData(() => unschedule(this.#resident, command));
  }

  control(command: Rpc.ControlCommand): Promise<Reply> {
    return asData(() => control(this.#resident, command));
  }

  setRefs(command: Parameters<Rpc.ActorRpc["setRefs"]>[0]): Promise<Reply> {
    return asData(() => setRefs(this.#resident, command));
  }

  erase(command: Parameters<Rpc.ActorRpc["erase"]>[0]): Promise<Reply> {
    return asData(() => erase(this.#resident, command));
  }

  replay(query: Parameters<Rpc.ActorRpc["replay"]>[0]): Promise<Reply> {
    return asData(() => replayLog(this.#resident, query));
  }

  tryOn(query: Parameters<Rpc.ActorRpc["tryOn"]>[0]): Promise<Reply> {
    return asData(() => tryOn(this.#resident, query));
  }

  migrate(query: Parameters<Rpc.ActorRpc["migrate"]>[0]): Promise<Rpc.Visit | Refused> {
    return asData(() => migrate(this.#resident, this.#reporter, query));
  }

  rollback(command: Rpc.RollbackCommand): Promise<Reply> {
    return asData(() => rollback(this.#resident, command));
  }

  rescue(command: Rpc.RescueCommand): Promise<Reply> {
    return asData(() => rescue(this.#resident, command));
  }

  decisions(query: Rpc.Address): Promise<Reply> {
    return asData(() => decisions(this.#resident, query));
  }

  exportHead(query: Rpc.Address): Promise<Reply> {
    return asData(() => exportHead(this.#resident, query));
  }

  exportLog(query: Parameters<Rpc.ActorRpc["exportLog"]>[0]): Promise<Reply> {
    return asData(() => exportLog(this.#resident, query));
  }

  rouse(query: Rpc.Address): Promise<Reply> {
    return asData(() => rouse(this.#resident, this.#reporter, query));
  }

  settle(command: Rpc.SettleCommand): Promise<Reply> {
    return asData(() => settle(this.#resident, command));
  }

  changeTask(command: Rpc.TaskChange): Promise<Reply> {
    return asData(() => changeTask(this.#resident, command));
  }

  receive(command: Rpc.MessageCommand): Promise<Reply> {
    return asData(() => receive(this.#resident, command));
  }

  childEnded(report: Rpc.ChildReport): Promise<Reply> {
    return asData(() => childEnded(this.#resident, report));
  }

  abandon(command: Rpc.AbandonCommand): Promise<Reply> {
    return asData(() => abandon(this.#resident, command));
  }

  advanceClock(command: Parameters<Rpc.ActorRpc["advanceClock"]>[0]): Promise<Reply> {
    return asData(() => advanceClock(this.#resident, command));
  }
}

/** What keeps a connection open through proxies wakes nobody. */
function acceptStream(ctx: DurableObjectState, socket: WebSocket): void {
  ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  ctx.acceptWebSocket(socket);
}
