import { untilBeat } from "../base/beat.ts";
import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { OneRun } from "../base/one-run.ts";
import { pause } from "../base/pause.ts";
import { unwrapped } from "../base/refused.ts";
import type { Wrapped } from "../base/refused.ts";
import { within } from "../base/within.ts";
import type { Entry } from "../directory/rpc.ts";
import { entryShard, shardCount } from "../directory/shards.ts";
import type { Env } from "../env.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { entryOf, indexedOf, sameIndexed } from "../lifecycle/entry.ts";
import type { Indexed } from "../lifecycle/entry.ts";
import type { Gone, Observer } from "./observer.ts";
import type { Resident } from "./resident.ts";

/** ms before each further attempt that memory makes; then the alarm takes over. */
const BACKOFF_MS = [200, 1_000, 4_000];

/** What the directory is taken to know. */
interface Told {
  uid: string;
  indexed: Indexed;
  /** What rides along, told again only when an alarm is there anyway. */
  figures: string;
  /** `assumed`: a call woke the actor, so no alarm was there to say otherwise. `sent`: its put is under way. */
  state: "assumed" | "sent" | "confirmed";
}

/**
 * Tells the directory how its actor stands. One put is under way at a time and the newest state goes next, so
 * the shard may hear of fewer states than there were, but always of the last one.
 *
 * What a crash loses is made good by the alarm that `owes` puts into the commit: as long as a change may be
 * untold, an alarm is pending. So an actor that a call wakes is taken as told, and one that an alarm wakes tells
 * how it stands; that writes nothing where the shard knew.
 */
export class Reporter implements Observer {
  readonly #resident: Resident;
  readonly #background: (work: Promise<unknown>) => void;
  /** Null: nothing can be said of what the shard knows. */
  #told: Told | null = null;
  /** The incarnation of which the shard has confirmed an entry in this wake. */
  #confirmed: string | null = null;
  /** ms on the server's clock; when what is told was committed. */
  #changedAt = 0;
  /** The incarnation of which this object has said that its definition cannot be had. */
  #unavailable: string | null = null;
  readonly #puts = new OneRun();
  #telling = false;

  /** `background` keeps the object alive for work that no answer waits for. */
  constructor(resident: Resident, background: (work: Promise<unknown>) => void) {
    this.#resident = resident;
    this.#background = background;
  }

  /** Begins to ask what a spawn will need; whoever needs it waits, or learns why not. */
  prepare(tenant: string): void {
    shardCount(this.#resident.env, tenant, true).catch(() => {});
  }

  loaded(actor: Actor, wokenBy: "call" | "alarm"): void {
    const { at, clockOffsetMs } = actor.envelope;
    const now = Date.now();
    // A change that a crash kept untold is younger than its alarm is late; anything older is no delay of ours.
    const recent = now - (at - clockOffsetMs) < 2 * LIMITS.settleMs;
    this.#changedAt = recent ? at - clockOffsetMs : now;
    const assumed = wokenBy === "call" && !this.#resident.untold;
    this.#told = assumed ? this.#standing(actor, "assumed") : null;
    // No alarm knows of one that was never told of.
    if (this.#resident.untold && wokenBy === "call") this.#background(this.#tell());
  }

  /** Once per wake: the shard marks it, and goes on waking it until it can tell how it stands. */
  unavailable({ tenant, id, uid }: Envelope): void {
    if (this.#unavailable === uid) return;
    this.#unavailable = uid;
    const telling = this.#call(tenant, id, (shard) => shard.unavailable({ id, uid }));
    this.#background(
      telling.catch((error: unknown) => {
        this.#unavailable = null;
        logError("warn", error, { during: "telling the directory" });
      }),
    );
  }

  owes(_before: Actor | null, after: Actor): number | null {
    const told = this.#knows(after) && this.#told?.state !== "sent";
    return told ? null : Date.now() + LIMITS.settleMs;
  }

  committed(_before: Actor | null, after: Actor | null): void {
    if (after === null) this.#told = null;
    else if (!this.#knows(after)) {
      this.#changedAt = Date.now();
      if (!this.#telling) this.#background(this.#tell());
    }
  }

  async settle(): Promise<number | null> {
    // One that is under way may be of an older state, and what was committed since then had this alarm before it went off.
    await this.#puts.over();
    const { actor } = this.#resident;
    if (actor === null) return null;
    const settled = this.#knows(actor) && this.#told?.state === "confirmed";
    // What changes from here on has an alarm of its own.
    if (!settled || this.#told?.figures !== this.#figures()) await this.#send();
    return null;
  }

  /** Returns when the directory has confirmed an entry of this incarnation; `again`: in any case by a new put. */
  async makeSure({ again }: { again: boolean }): Promise<void> {
    if (again) await this.#puts.over();
    else if (this.#confirmed === this.#resident.actor?.envelope.uid) return;
    await this.#send();
    // The put that was waited for may have been of an incarnation before this one.
    if (this.#confirmed !== this.#resident.actor?.envelope.uid) await this.#send();
  }

  async farewell({ tenant, id, uid, bornAt }: Gone): Promise<void> {
    const { events, replays } = this.#resident.books;
    await this.#call(tenant, id, (shard) => shard.bury({ id, uid, bornAt, events, replays }));
  }

  #standing(actor: Actor, state: Told["state"]): Told {
    return { uid: actor.envelope.uid, indexed: indexedOf(actor), figures: this.#figures(), state };
  }

  #figures(): string {
    const { events, replays } = this.#resident.books;
    return `${events} ${replays}`;
  }

  #knows(actor: Actor): boolean {
    const told = this.#told;
    return (
      told !== null &&
      told.uid === actor.envelope.uid &&
      sameIndexed(told.indexed, indexedOf(actor))
    );
  }

  /** Tells until nothing is untold; gives up after some failures, for an alarm is pending. */
  async #tell(): Promise<void> {
    this.#telling = true;
    try {
      for (let failures = 0; ;) {
        // Events tend to come in bursts, of which only the end has to be told; and who tells a shard at one moment shares its commit.
        await pause(untilBeat(Date.now(), LIMITS.gatherMs, LIMITS.beatMs));
        const { actor } = this.#resident;
        if (actor === null || this.#knows(actor)) return;
        try {
          await this.#send();
          failures = 0;
        } catch (error) {
          const delay = BACKOFF_MS[failures];
          if (delay === undefined) {
            logError("warn", error, { during: "telling the directory" });
            return;
          }
          failures += 1;
          await pause(delay);
        }
      }
    } finally {
      this.#telling = false;
    }
  }

  /** One put of the actor as it is now; a put that is under way is waited for instead. */
  #send(): Promise<void> {
    return this.#puts.join(() => this.#put());
  }

  async #put(): Promise<void> {
    const { actor, books } = this.#resident;
    if (actor === null) return;
    const { tenant, id, uid } = actor.envelope;
    const told = this.#standing(actor, "sent");
    const entry: Entry = entryOf(actor, books, this.#changedAt);
    const unsure = this.#told === null;
    this.#told = told;
    let arrived: boolean;
    try {
      arrived = (await this.#call(tenant, id, (shard) => shard.put(entry))) === true;
    } catch (error) {
      // It may have arrived all the same.
      if (this.#told === told) this.#told = null;
      throw error;
    }
    this.#confirmed = uid;
    if (this.#told === told) told.state = "confirmed";
    if ((arrived || unsure) && !this.#resident.isAbreast) this.#background(this.#visit());
  }

  /**
   * Goes by the rules as they are now. A sweep over a definition may have ended before the shard knew that the actor is on it;
   * whatever was in force by then is known by now.
   */
  async #visit(): Promise<void> {
    const resident = this.#resident;
    try {
      await resident.ready();
      if (resident.actor === null) return;
      const work = resident.work(resident.actor);
      work.point(work.now(Date.now()));
      resident.end(work);
    } catch (error) {
      // The alarm tells again, and visits again.
      this.#told = null;
      resident.alarm.remind(Date.now() + LIMITS.settleMs);
      logError("warn", error, { during: "going by the rules" });
    }
  }

  async #call<T>(
    tenant: string,
    id: string,
    call: (shard: ReturnType<Env["DIRECTORY"]["getByName"]>) => Promise<Wrapped<T>>,
  ): Promise<T> {
    const { env } = this.#resident;
    const count = (await shardCount(env, tenant, true)) as number;
    const name = entryShard(tenant, count, id);
    return unwrapped(
      await within(LIMITS.directoryCallMs, callObject(env.DIRECTORY, name, true, call)),
    );
  }
}
