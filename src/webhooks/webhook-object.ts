import { DurableObject } from "cloudflare:workers";
import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Env } from "../env.ts";
import { answerOnce } from "../storage/once.ts";
import { asData } from "../base/refused.ts";
import { answer } from "../base/reply.ts";
import { newestFirst } from "../registry/replies.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import {
  countPending,
  findDelivery,
  findMessage,
  forgetActor,
  pageOfDeliveries,
  updateDelivery,
} from "../storage/webhook-deliveries.ts";
import type { DeliveryRow } from "../storage/webhook-deliveries.ts";
import { createWebhookTables, readWebhookName } from "../storage/webhook-schema.ts";
import type { WebhookName } from "../storage/webhook-schema.ts";
import { ConfigLease } from "./config-lease.ts";
import { Courier } from "./courier.ts";
import { deliveryView, isErased, positionOf, renewed } from "./delivery.ts";
import { messageOf, pingMessage } from "./message.ts";
import { makeRoom, takeMessages } from "./queue.ts";
import type * as Rpc from "./rpc.ts";

/** The deliveries of one webhook. Reading those of one that has none writes nothing. */
export class WebhookObject extends DurableObject<Env> implements Rpc.WebhookRpc {
  readonly #db: Db;
  readonly #alarm: AlarmClock;
  readonly #config: ConfigLease;
  readonly #courier: Courier;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
    this.#alarm = new AlarmClock(ctx.storage, this.#db);
    this.#config = new ConfigLease(env);
    const needs = { db: this.#db, alarm: this.#alarm, config: this.#config, env };
    this.#courier = new Courier({ ...needs, erase: () => this.erase() });
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#db.meter;
  }

  override async alarm(): Promise<void> {
    this.#alarm.wentOff();
    await this.#courier.run();
  }

  enqueue({ tenant, webhookId, notices }: Parameters<Rpc.WebhookRpc["enqueue"]>[0]) {
    return asData(async () => {
      await this.#alarm.known();
      const now = Date.now();
      const messages = notices.map(messageOf);
      const added = this.#db.transaction(() => {
        this.#open({ tenant, id: webhookId });
        return takeMessages(this.#db, messages, now);
      });
      if (added) this.#look();
      return answer(202, null);
    });
  }

  ping({ tenant, webhookId, ...keyed }: Parameters<Rpc.WebhookRpc["ping"]>[0]) {
    return asData(async () => {
      await this.#alarm.known();
      const now = Date.now();
      const open = () => this.#open({ tenant, id: webhookId });
      return answerOnce(this.#stored(), open, keyed, now, () => {
        const message = pingMessage(webhookId, now);
        open();
        takeMessages(this.#db, [message], now);
        this.#look();
        return answer(202, deliveryView(findMessage(this.#db, message.message_id) as DeliveryRow));
      });
    });
  }

  deliveries({ limit, cursor, status }: Parameters<Rpc.WebhookRpc["deliveries"]>[0]) {
    return asData(() => {
      return newestFirst(
        this.#stored(),
        `deliveries-${status ?? "all"}`,
        { limit, cursor },
        Date.now(),
        (db, before, most) => pageOfDeliveries(db, before, most, status),
        deliveryView,
      );
    });
  }

  redeliver({ deliveryId, ...keyed }: Parameters<Rpc.WebhookRpc["redeliver"]>[0]) {
    return asData(async () => {
      await this.#alarm.known();
      const position = positionOf(deliveryId);
      const db = this.#stored();
      if (db === null || position === null || findDelivery(db, position) === null) {
        return refuse("delivery_not_found", `There is no delivery '${deliveryId}' here.`);
      }
      const now = Date.now();
      return answerOnce(
        db,
        () => db,
        keyed,
        now,
        () => {
          const row = findDelivery(db, position) as DeliveryRow;
          if (isErased(row)) {
            return refuse(
              "delivery_not_found",
              `The actor of the delivery '${deliveryId}' was deleted, and its body was erased, so there is nothing to send again.`,
            );
          }
          updateDelivery(db, renewed(row, now));
          makeRoom(db, now);
          this.#look();
          return answer(202, deliveryView(findDelivery(db, position) as DeliveryRow));
        },
      );
    });
  }

  reconfigured() {
    return asData(async () => {
      await this.#alarm.known();
      this.#config.forget();
      if (this.#stored() !== null) this.#look();
    });
  }

  async tend(): Promise<void> {
    await this.#alarm.known();
    if (this.#stored() !== null && !this.#alarm.isSet) this.#look();
  }

  backlog() {
    return asData(() => {
      const db = this.#stored();
      return db === null ? 0 : countPending(db);
    });
  }

  forget({ uid, after }: Parameters<Rpc.WebhookRpc["forget"]>[0]) {
    return asData(() => {
      const db = this.#stored();
      const most = LIMITS.deliveriesForgotten;
      return answer(200, { next: db && forgetActor(db, uid, after, most) });
    });
  }

  async erase(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#alarm.wentOff();
    this.#config.forget();
  }

  /** After the turn's commit: attempts leave when it is durable, whoever called has its answer already. */
  #look(): void {
    this.ctx.waitUntil(this.#courier.look());
  }

  /** The database, or null where nothing was ever written. */
  #stored(): Db | null {
    return readWebhookName(this.#db) === null ? null : this.#db;
  }

  #open(name: WebhookName): Db {
    if (readWebhookName(this.#db) === null) createWebhookTables(this.#db, name);
    return this.#db;
  }
}
