import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { OneRun } from "../base/one-run.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { isTold, noticesOf, standingAfter } from "../lifecycle/notices.ts";
import type { Standing, Subject } from "../lifecycle/notices.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { given } from "../base/refused.ts";
import {
  hasHadNone,
  knownSubscriptions,
  subscriptionsOf,
  webhookIdsOf,
} from "../registry/subscription-cache.ts";
import { readRow, readRows } from "../storage/actor-log.ts";
import { tagsOf } from "../machine/view.ts";
import type { Notice, Subscription, WebhookRpc } from "../webhooks/rpc.ts";
import type { Gone, Observer } from "./observer.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";

/** Notices of consecutive records, still to be told. */
interface Batch {
  tenant: string;
  uid: string;
  /** The last of the records. */
  through: number;
  notices: Notice[];
}

/** Notices kept in memory while earlier ones are told; beyond, they are made from the log again. */
const QUEUED = 1_000;
/** Characters of records read at once. */
const READ_CHARS = 1_000_000;

/**
 * Tells the tenant's webhooks what happened. Their objects keep what they were told and know repeats by id,
 * so it is enough never to say too little:
 *
 * A1  `announced` moves past a record only when every webhook that wants its notices has them, or none is there.
 * A2  What is committed and perhaps not told has an alarm, set in the same commit, that tells it from the log.
 * A3  A caller never waits for it.
 */
export class Announcer implements Observer {
  readonly #resident: Resident;
  readonly #background: (work: Promise<void>) => void;
  #queue: Batch[] = [];
  /** Up to where records are told, in the queue or on their way; null: up to `announced`. */
  #through: number | null = null;
  readonly #telling = new OneRun();
  /** Some webhook took a notice since `announced` was last written for that. */
  #told = false;

  /** `background` keeps the object alive for work that no answer waits for. */
  constructor(resident: Resident, background: (work: Promise<void>) => void) {
    this.#resident = resident;
    this.#background = background;
  }

  owes(before: Actor | null, after: Actor, records: readonly LogRecord[]): number | null {
    const now = Date.now();
    if (hasHadNone(after.envelope.tenant, now)) return null;
    // An alarm that is at work sets the next one by its commit, so that one is for what was owed before, too.
    const behind = this.#resident.books.announced < (before?.envelope.seq ?? 0);
    return behind || somethingToTell(before, records) ? now + LIMITS.settleMs : null;
  }

  committed(before: Actor | null, after: Actor | null, records: readonly LogRecord[]): void {
    if (after === null) {
      // What is left is told before its log goes; the next incarnation begins anew.
      this.#through = null;
      return;
    }
    const { tenant, seq, uid } = after.envelope;
    const { announced } = this.#resident.books;
    const last = before?.envelope.seq ?? 0;
    const nobody = knownSubscriptions(tenant, Date.now())?.length === 0;
    if (nobody || (announced === last && !somethingToTell(before, records))) {
      this.#advance(uid, seq);
      return;
    }
    if ((this.#through ?? announced) === last && this.#queued() < QUEUED) {
      const standing = before && standingOf(before);
      this.#queue.push({
        tenant,
        uid,
        through: seq,
        notices: noticesIn(after.envelope, standing, records),
      });
      this.#through = seq;
    }
    this.#background(
      this.#tell().catch((error: unknown) => {
        logError("warn", error, { during: "announcing" });
        // Where nobody was thought to listen, the commit has set none.
        this.#resident.alarm.remind(Date.now() + LIMITS.settleMs);
      }),
    );
  }

  /**
   * In the alarm: what was not told yet, or perhaps not. That it was told is written down, since webhooks forget
   * what they were told, and the next commit may be long after that.
   */
  async settle(): Promise<null> {
    await this.#tell();
    if (this.#told && this.#resident.actor !== null) this.#resident.keepAnnounced();
    this.#told = false;
    return null;
  }

  /** A deletion takes no notice with it; then the webhooks erase what they were told, as far as it has been sent. */
  async farewell({ tenant, uid }: Gone): Promise<void> {
    await this.#tell();
    const ids = await webhookIdsOf(this.#resident.env, tenant);
    const outcomes = await Promise.allSettled(ids.map((id) => this.#erase(tenant, id, uid)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #erase(tenant: string, webhookId: string, uid: string): Promise<void> {
    const { WEBHOOKS } = this.#resident.env;
    const name = `${tenant}/${webhookId}`;
    let after: string | null = null;
    // Ends with the deliveries of one webhook, which are bounded: each answer is further on.
    do {
      const command: Parameters<WebhookRpc["forget"]>[0] = { uid, after };
      const reply = given(
        await callObject(WEBHOOKS, name, true, (webhook) => webhook.forget(command)),
      );
      after = (reply.body as { next: string | null }).next;
    } while (after !== null);
  }

  #queued(): number {
    return this.#queue.reduce((sum, { notices }) => sum + notices.length, 0);
  }

  #tell(): Promise<void> {
    return this.#telling.join(() => this.#tellAll());
  }

  async #tellAll(): Promise<void> {
    try {
      for (let batch = this.#next(); batch; batch = this.#next()) {
        if (batch.notices.length > 0) await this.#tellBatch(batch);
        this.#advance(batch.uid, batch.through);
      }
    } catch (error) {
      this.#queue = [];
      this.#through = null;
      throw error;
    }
  }

  #next(): Batch | null {
    return this.#queue.shift() ?? this.#fromLog();
  }

  /** The next records that were not told, or null. */
  #fromLog(): Batch | null {
    const { actor, gone, db, books } = this.#resident;
    const subject = actor?.envelope ?? gone;
    if (subject === null || books.announced >= subject.seq) return null;
    const { tenant, uid, seq } = subject;
    const { announced } = books;
    const range = { after: announced, through: seq, kind: null, chars: READ_CHARS };
    const rows = readRows(db, { ...range, limit: LIMITS.noticesPerCall });
    const last = readRow(db, announced);
    const standing = last && standingAfter(null, recordOf(last));
    const notices = noticesIn(subject, standing, rows.map(recordOf));
    const through = rows.at(-1)?.seq ?? seq;
    this.#through = through;
    return { tenant, uid, through, notices };
  }

  async #tellBatch({ tenant, notices }: Batch): Promise<void> {
    const subscriptions = await subscriptionsOf(this.#resident.env, tenant);
    const outcomes = await Promise.allSettled(
      subscriptions.map((subscription) => this.#tellOne(tenant, subscription, notices)),
    );
    // One that cannot be told keeps no other from hearing of it.
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #tellOne(
    tenant: string,
    { id, events, createdAt }: Subscription,
    notices: readonly Notice[],
  ): Promise<void> {
    const wanted = notices.filter(({ type, at }) => events.includes(type) && at >= createdAt);
    for (let from = 0; from < wanted.length; from += LIMITS.noticesPerCall) {
      const part = wanted.slice(from, from + LIMITS.noticesPerCall);
      const command = { tenant, webhookId: id, notices: part };
      const { WEBHOOKS } = this.#resident.env;
      const name = `${tenant}/${id}`;
      given(await callObject(WEBHOOKS, name, true, (webhook) => webhook.enqueue(command)));
      this.#told = true;
    }
  }

  #advance(uid: string, seq: number): void {
    const { actor, gone } = this.#resident;
    if ((actor?.envelope ?? gone)?.uid === uid) this.#resident.announced(seq);
  }
}

function standingOf({ envelope, live }: Actor): Standing {
  const { machine, status, definitionId } = envelope;
  return { stateValue: machine.value, status, definitionId, tags: tagsOf(live) };
}

function somethingToTell(before: Actor | null, records: readonly LogRecord[]): boolean {
  let standing = before && standingOf(before);
  for (const record of records) {
    if (isTold(standing, record)) return true;
    standing = standingAfter(standing, record);
  }
  return false;
}

function noticesIn(
  { uid, id, family }: Subject,
  before: Standing | null,
  records: readonly LogRecord[],
): Notice[] {
  const notices: Notice[] = [];
  let standing = before;
  for (const record of records) {
    notices.push(...noticesOf({ uid, id, family }, standing, record));
    standing = standingAfter(standing, record);
  }
  return notices;
}
