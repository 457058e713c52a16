import { LIMITS } from "../base/limits.ts";
import { keepsDirectory } from "../directory/shards.ts";
import type { Env } from "../env.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { wake } from "../lifecycle/actor.ts";
import { decodeEnvelope } from "../lifecycle/envelope.ts";
import { alarmTime } from "../lifecycle/timers.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";
import { getMachine, isDefinitionUnavailable } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { knownRules } from "../registry/rule-cache.ts";
import type { ReadyRule } from "../registry/rule-cache.ts";
import { actorTables } from "../storage/actor-schema.ts";
import { readActor } from "../storage/actor-snapshot.ts";
import type { Books } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";
import { earliest } from "../storage/alarm-clock.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { Departure } from "./departure.ts";
import { Decider } from "./decider.ts";
import type { KeyIndex } from "./key-index.ts";
import { Laws } from "./laws.ts";
import type { Gone, Observer } from "./observer.ts";
import { Reach } from "./reach.ts";
import type { Place } from "./reach.ts";
import type { OutboxItem } from "./outbox.ts";
import { Store } from "./store.ts";
import { Waiters } from "./waiters.ts";
import { Work } from "./work.ts";

/** What a transaction needs beside what they all do: a definition that it may bring the actor to, rules of an epoch. */
export interface Needs {
  also?: string | null;
  epoch?: number;
}

/**
 * An actor while its object is awake.
 *
 * R1  What is in memory is what was committed: it changes after a transaction, never before.
 * R2  One commit holds records, snapshot, keys and timers, and the alarm of the same turn.
 * R3  Whatever must be awaited is awaited in `load`, or `ready` where rules may move the actor; from there to `commit`
 *     a caller does not await.
 */
export class Resident {
  readonly db: Db;
  readonly env: Env;
  readonly alarm: AlarmClock;
  readonly waiters = new Waiters();
  /** Told of each commit, in this order. */
  readonly observers: Observer[] = [];
  #loading: Promise<void> | null = null;
  #actor: Actor | null = null;
  readonly #store: Store;
  readonly #departure: Departure;
  readonly #reach: Reach;
  readonly #decider: Decider;
  /** By an alarm also where a call came first and still waits for what the alarm waits for. */
  #wokenBy: "call" | "alarm" = "call";

  constructor(db: Db, env: Env, alarm: AlarmClock) {
    this.db = db;
    this.env = env;
    this.alarm = alarm;
    this.#departure = new Departure(db);
    this.#reach = new Reach(env);
    this.#decider = new Decider(db);
    this.#store = new Store(db, () => this.#actor?.envelope.seq ?? 0);
  }

  get actor(): Actor | null {
    return this.#actor;
  }

  /** Whether there is a table of tombstones; known after `load`. */
  get tombstones(): boolean {
    return this.#departure.tombstones;
  }

  /** After the last tombstone went, and the table with it. */
  forgetTombstones(): void {
    this.#departure.tombstones = false;
  }

  /** The incarnation that is being erased, or null; known after `load`. */
  get gone(): Gone | null {
    return this.#departure.gone;
  }

  /** As the next commit will write them. */
  get books(): Books {
    return this.#store.books.books;
  }

  /** Webhooks were told up to this record. The next commit that comes anyway writes it, or the alarm. */
  announced(seq: number): void {
    this.#store.books.announced(seq);
  }

  /** Writes how far webhooks were told: one row. */
  keepAnnounced(): void {
    this.#store.books.keepAnnounced();
  }

  /** A repeat was answered from its key. The next commit writes it, or a timer in memory; the alarm tells of it. */
  countReplay(): void {
    this.#store.books.countReplay();
    if (keepsDirectory(this.env)) this.alarm.remind(Date.now() + LIMITS.settleMs);
  }

  /** Writes what was counted and has not been written: one row, or none. */
  keepBooks(): void {
    this.#store.books.keep();
  }

  /** What is still to be done outside, as it was written last. */
  get outbox(): readonly OutboxItem[] {
    return this.#store.outbox;
  }

  /** Writes how far the work outside is: one row. */
  keepOutbox(items: readonly OutboxItem[]): void {
    this.#store.keepOutbox(items);
  }

  get keys(): KeyIndex {
    return this.#store.keys;
  }

  /**
   * Reads the actor once per wake; a failure (a definition that cannot be had) is tried again by the next call.
   * It does not answer the actor: a promise's value is as old as its resolution, and calls that waited for
   * one load would all begin from the same actor. They look at `actor` when it is their turn.
   */
  async load(wokenBy: "call" | "alarm" = "call"): Promise<void> {
    if (wokenBy === "alarm") this.#wokenBy = wokenBy;
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = null;
      this.#wokenBy = "call";
      throw error;
    });
    await this.#loading;
  }

  /**
   * `load`, and what a transaction needs besides: the rules, no older than `epoch`, under a lease, and the machines that they
   * may lead to from where the actor is, and from `also`. It may have changed meanwhile, and may be gone.
   */
  async ready(needs: Needs = {}): Promise<void> {
    await this.load();
    await this.#reach.prepare(() => this.#actor && placeOf(this.#actor.envelope, needs));
  }

  /** What a spawn needs to begin an actor on a definition. */
  async readyToBegin(tenant: string, definitionId: string): Promise<void> {
    const place: Place = { tenant, epoch: 0, definitionIds: [definitionId] };
    await this.#reach.prepare(() =>
      this.#actor === null ? place : placeOf(this.#actor.envelope, { also: definitionId }),
    );
  }

  /** Of the rules that the next transaction goes by. */
  get epoch(): number {
    return this.#reach.epoch;
  }

  /** Whether the actor has gone by all rules that are known under a lease. */
  get isAbreast(): boolean {
    if (this.#actor === null) return true;
    const { tenant, epoch } = this.#actor.envelope;
    return knownRules(tenant, epoch, Date.now())?.epoch === epoch;
  }

  /** A rule about the actor where it is now, as the last transaction went by it; null where there is none. */
  rule(id: string): ReadyRule | null {
    if (this.#actor === null) return null;
    const rules = this.#reach.from(this.#actor.envelope.definitionId);
    return rules.find(({ rule }) => rule.id === id) ?? null;
  }

  /** Begins a transaction, without a wait after `ready`; with its first record where it begins the actor. */
  work(actor: Actor, born: LogRecord | null = null): Work {
    const laws = new Laws(this.#reach, this.#decider.draft(this.#actor), this.db);
    return new Work(actor, laws, born, this.outbox);
  }

  /** `work`, with what is due fired: it comes before whatever is asked for now. `now` is on the actor's clock. */
  begin(actor: Actor): { work: Work; now: number } {
    const work = this.work(actor);
    const now = work.now(Date.now());
    work.fireDue(now);
    return { work, now };
  }

  /** Commits what a work has come to; nothing where it has changed nothing. */
  end(work: Work): void {
    if (work.changed) this.commit(work.actor, work.records);
  }

  async #read(): Promise<void> {
    const tables = actorTables(this.db);
    this.#departure.tombstones = tables.tombstone;
    if (!tables.actor) return;
    const stored = readActor(this.db);
    if (stored === null) return;
    const envelope = decodeEnvelope(stored.snapshot);
    this.#store.found(stored, envelope);
    if (stored.erasing !== null) {
      this.#departure.found(envelope, stored.erasing);
      if (this.#wokenBy === "alarm") return;
      await this.alarm.load();
      // One that got lost is set again by whatever wakes what is left.
      if (this.#wokenBy === "call") this.alarm.ensure(Date.now() + LIMITS.erasureMs);
      return;
    }
    const departures = this.#departure.count;
    const registry = definitionSource(this.env.REGISTRY, envelope.tenant);
    const machine = await getMachine(
      registry,
      envelope.definitionHash,
      envelope.definitionId,
    ).catch((error: unknown) => {
      if (isDefinitionUnavailable(error)) {
        for (const observer of this.observers) observer.unavailable?.(envelope);
      }
      throw error;
    });
    if (this.#wokenBy === "call") await this.alarm.load();
    const wokenBy = this.#wokenBy;
    // It can be deleted without its machine, so also while this waited for it.
    if (this.#departure.count !== departures) return;
    this.#actor = wake(envelope, machine);
    this.#store.index(stored);
    for (const observer of this.observers) observer.loaded?.(this.#actor, wokenBy);
    // The truth is in the timers; an alarm that got lost is set again by whatever wakes the actor.
    // One that went off ends by setting the next: here it would only be set for what fires now.
    if (wokenBy === "call") this.alarm.ensure(alarmTime(envelope));
  }

  /**
   * Writes an actor and the records that led to it, everything or nothing; the alarm follows its timers unless told
   * otherwise. `seenTo`: who is told before the caller answers, and is owed no alarm.
   */
  commit(
    actor: Actor,
    records: readonly LogRecord[],
    alarmAt: number | null = alarmTime(actor.envelope),
    seenTo: Observer | null = null,
  ): void {
    const before = this.#actor;
    const owed = this.#owed(before, actor, records, seenTo);
    this.#store.write(before, actor, records);
    this.alarm.ensure(earliest([alarmAt, ...owed]));
    this.#actor = actor;
    if (actor.envelope.definitionId === before?.envelope.definitionId) {
      this.#decider.committed(records);
    } else this.#decider.forget();
    this.waiters.notify(actor);
    for (const observer of this.observers) observer.committed(before, actor, records);
  }

  /** The alarm that a commit would set, for one that may have got lost. */
  ensureAlarm(actor: Actor): void {
    this.alarm.ensure(earliest([alarmTime(actor.envelope), ...this.#owed(actor, actor, [], null)]));
  }

  #owed(
    before: Actor | null,
    after: Actor,
    records: readonly LogRecord[],
    seenTo: Observer | null,
  ): (number | null)[] {
    return this.observers.map((observer) =>
      observer === seenTo ? null : (observer.owes?.(before, after, records) ?? null),
    );
  }

  /** Begins the deletion: from this commit on nobody sees the actor. `write` writes what goes with the mark. */
  depart(envelope: Envelope, at: number, write: () => void): void {
    const before = this.#actor;
    this.#store.upgraded(() => {
      this.#departure.mark(at);
      write();
    });
    this.#departure.begun(envelope, at);
    this.#actor = null;
    this.#decider.forget();
    this.#store.index(null);
    this.waiters.notify(null);
    for (const observer of this.observers) observer.committed(before, null, []);
  }

  /** A spawn with the key of this hash has begun nobody here, and must not. */
  forbidSpawn(keyHash: string, at: number): void {
    this.#departure.forbid(keyHash, at);
    this.alarm.remind(at + LIMITS.tombstoneMs + 1);
  }

  /** Ends the deletion: the tables go. */
  vanish(): void {
    this.#departure.end();
    this.#store.close();
  }

  /** ms on the server's clock since when an alarm has had something to do; null when nobody is here. */
  dueSince(now: number): number | null {
    if (this.gone !== null) return this.#departure.since;
    const envelope = this.stored();
    if (envelope === null) return null;
    const dueAt = alarmTime(envelope) ?? 0;
    return Math.max(envelope.at - envelope.clockOffsetMs, dueAt <= now ? dueAt : 0);
  }

  /** Whether it was last written by a version that told no directory. */
  get untold(): boolean {
    return this.#store.untold;
  }

  /** The envelope as stored, for who needs no machine; null when there is no actor or it is being erased. */
  stored(): Envelope | null {
    if (this.#actor !== null) return this.#actor.envelope;
    if (this.gone !== null || !actorTables(this.db).actor) return null;
    const stored = readActor(this.db);
    return stored === null || stored.erasing !== null ? null : decodeEnvelope(stored.snapshot);
  }
}

function placeOf(
  { tenant, epoch, definitionId }: Envelope,
  { also = null, epoch: asked = 0 }: Needs,
): Place {
  const definitionIds = also === null ? [definitionId] : [definitionId, also];
  return { tenant, epoch: Math.max(epoch, asked), definitionIds };
}
