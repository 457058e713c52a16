import { isInline } from "../activities/types.ts";
import type { AttemptFailure } from "../activities/types.ts";
import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { othersTurn } from "../base/pause.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { effectsOfEnd } from "../lifecycle/finish.ts";
import { actorTime, alarmTime } from "../lifecycle/timers.ts";
import type { Effect, LogRecord } from "../lifecycle/types.ts";
import { CARRIERS, carrierOf, parting } from "./carriers.ts";
import type { Carried, Carrier, Carriers } from "./carriers.ts";
import type { Gone, Observer } from "./observer.ts";
import { afterFailure, hasRoom, isCrowded, isHeld, outboxAfter } from "./outbox.ts";
import type { Known, OutboxItem } from "./outbox.ts";
import { turnsIn, wakeAt } from "./outbox-turns.ts";
import { recordKnown } from "./record-known.ts";
import type { Resident } from "./resident.ts";

/** Effects after which others have their turn. */
const RESTS_AFTER = 16;

/** An effect that is being carried out. */
interface Flight {
  lane: string;
  inline: boolean;
  abort: AbortController;
  ended: Promise<void>;
}

/**
 * Carries out what the outbox holds.
 *
 * E1  What a commit asks for is in the outbox by that commit, and so is an alarm that looks after it: a crash loses nothing.
 * E2  An item is under way at most once in this object, and stays in the outbox until its end is written down: at least once.
 * E3  No answer waits for it. A begun call leaves when the commit is on the disk, since the platform holds it until then.
 * E4  The end of an item whose effect has left the outbox meanwhile is nobody's business any more.
 * E5  A machine that begins anew what fails at once is not alone in the process: it goes round at most so often in one turn.
 */
export class Performer implements Observer {
  readonly #resident: Resident;
  readonly #background: (work: Promise<void>) => void;
  readonly #carriers: Carriers;
  readonly #flights = new Map<Effect, Flight>();
  /** Effects that were begun since others had their turn. */
  #begun = 0;
  /** Whose end could not be written down: haste is of no use to them. */
  readonly #unrecorded = new WeakSet<Effect>();
  /** Wakes the alarm that stays for what is under way. */
  #changed = Promise.withResolvers<void>();

  /** `background` keeps the object alive for work that no answer waits for. */
  constructor(
    resident: Resident,
    background: (work: Promise<void>) => void,
    carriers: Carriers = CARRIERS,
  ) {
    this.#resident = resident;
    this.#background = background;
    this.#carriers = carriers;
  }

  loaded(_: Actor, wokenBy: "call" | "alarm"): void {
    if (wokenBy === "alarm") return;
    // An alarm that got lost is set again by whatever wakes the actor.
    this.#resident.alarm.ensure(this.#wakeAt());
    this.#begin();
  }

  owes(_: Actor | null, after: Actor, records: readonly LogRecord[]): number | null {
    return this.#wakeAt(after, outboxAfter(this.#resident.outbox, records));
  }

  committed(_: Actor | null, after: Actor | null): void {
    const { outbox } = this.#resident;
    for (const [effect, { abort }] of this.#flights) {
      if (after === null || !outbox.some((item) => item.effect === effect)) abort.abort();
    }
    this.#begin();
    this.#nudge();
  }

  /**
   * In the alarm: begins what is due and stays for what is under way, since an object that nobody calls may be taken from
   * memory. It goes early where the next alarm is due, which cannot go off before this one is through.
   */
  async settle(): Promise<number | null> {
    this.#begin();
    while (this.#flights.size > 0) {
      const until = this.#dueAt();
      const changed = this.#changed.promise;
      if (until <= Date.now() || !(await changedBefore(changed, until))) break;
    }
    return this.#wakeAt();
  }

  /** What works for a deleted actor is let go, and its parent is told. What else it had to say goes with it. */
  async farewell({ last }: Gone): Promise<void> {
    const { env, db, outbox } = this.#resident;
    // A call that is under way must not arrive after the word that nobody waits for it.
    await Promise.all([...this.#flights.values()].map(({ ended }) => ended));
    const leaver = { env, db, actor: { envelope: last } };
    const { signal } = new AbortController();
    for (const effect of [...outbox.map((item) => item.effect), ...effectsOfEnd(last)]) {
      const carrier = parting(effect, this.#carriers);
      const item = { effect, attempts: 0, nextAt: 0, errors: [] };
      const carried = await carrier?.(leaver, item, signal);
      if (carried && "again" in carried)
        throw new PerdureError("unavailable", carried.again.message);
    }
  }

  /** ms at which an alarm is wanted for what is left, or null. */
  #wakeAt(
    actor: Actor | null = this.#resident.actor,
    items: readonly OutboxItem[] = this.#resident.outbox,
  ): number | null {
    if (actor === null || items.length === 0) return null;
    const now = Date.now();
    return wakeAt(turnsIn(items, actor.envelope), now, now + LIMITS.outboxWatchMs);
  }

  /** ms at which something else is due in this object. */
  #dueAt(): number {
    const { actor, outbox, alarm } = this.#resident;
    const most = Date.now() + LIMITS.alarmStayMs;
    if (actor === null) return most;
    const turn = wakeAt(turnsIn(outbox, actor.envelope), Date.now(), most);
    return Math.min(most, alarm.at ?? most, alarmTime(actor.envelope) ?? most, turn ?? most);
  }

  #begin(): void {
    const { actor, outbox } = this.#resident;
    if (actor === null || outbox.length === 0) return;
    const now = Date.now();
    const busy = [...this.#flights.values()].map(({ lane }) => lane);
    const crowded = isCrowded(outbox);
    for (const { item, lane } of turnsIn(outbox, actor.envelope, busy)) {
      const hurried = crowded && item.effect.kind === "send" && !this.#unrecorded.has(item.effect);
      const due = item.nextAt <= now || hurried;
      if (due) this.#carry(actor, item, lane);
    }
  }

  #carry(actor: Actor, item: OutboxItem, lane: string): void {
    const { effect, known } = item;
    const carrier = carrierOf(effect, this.#carriers);
    if (carrier === null && known === undefined) return;
    const inline = effect.kind === "start" && isInline(effect.src);
    if (known === undefined && this.#full(inline)) return;
    const abort = new AbortController();
    const flight: Flight = { lane, inline, abort, ended: Promise.resolve() };
    this.#flights.set(effect, flight);
    flight.ended = this.#fly(actor.envelope.uid, item, carrier, abort.signal)
      .finally(() => this.#flights.delete(effect))
      .then(() => this.#begin())
      // It is in the outbox still, and an alarm looks after it.
      .catch((error: unknown) => logError("error", error, { during: "the end of an effect" }))
      .finally(() => this.#nudge());
    this.#background(flight.ended);
  }

  async #fly(
    uid: string,
    item: OutboxItem,
    carrier: Carrier | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { effect, known } = item;
    this.#begun += 1;
    if (this.#begun > RESTS_AFTER) {
      await othersTurn();
      this.#begun = 0;
      if (signal.aborted) return;
    }
    if (known !== undefined || carrier === null) {
      if (known !== undefined) await this.#record(uid, effect, known);
      return;
    }
    let carried: Carried;
    try {
      carried = await carrier(this.#resident, item, signal);
    } catch (error) {
      carried = { again: failureOf(error) };
    }
    // What comes to its end without any I/O may lead to more of the same, for ever.
    await othersTurn();
    const left = this.#left(uid, effect);
    if (left === null) return;
    if ("done" in carried) this.#keep(left, null);
    else if ("input" in carried) await this.#record(uid, effect, this.#known(carried.input));
    else {
      const now = Date.now();
      const pauseMs = carried.pauseMs ?? pauseAfter(left.attempts);
      this.#keep(left, afterFailure(left, carried.again, now, now + pauseMs));
    }
  }

  #full(inline: boolean): boolean {
    const most = inline ? LIMITS.callsInFlight : LIMITS.effectsInFlight;
    return [...this.#flights.values()].filter((flight) => flight.inline === inline).length >= most;
  }

  /** Writes down what became of an item; where that cannot be now, it is kept and tried again. */
  async #record(uid: string, effect: Effect, known: Known): Promise<void> {
    let pauseMs: number = LIMITS.effectRetryMostMs;
    let full = false;
    try {
      const recorded = await recordKnown(this.#resident, uid, effect, known);
      if (recorded === "recorded") return;
      full = recorded === "never";
    } catch (error) {
      logError("warn", error, { during: "recording a result" });
      const before = this.#left(uid, effect)?.known;
      pauseMs = before === undefined ? LIMITS.alarmRetryMs : LIMITS.alarmRetryMostMs;
    }
    this.#unrecorded.add(effect);
    const item = this.#left(uid, effect);
    const { actor } = this.#resident;
    if (item === null || actor === null) return;
    if (full) {
      const error = new Error("The actor has as many records as it may have.");
      logError("warn", error, { during: "recording a result" });
      this.#keep(item, null);
      return;
    }
    const held = isHeld(item, actor.envelope.status);
    if (held && item.known !== undefined) return;
    const kept = { ...item, known, nextAt: held ? 0 : Date.now() + pauseMs };
    // One for which there is no room is asked for again, under the same key.
    const room = hasRoom(this.#resident.outbox.map((one) => (one === item ? kept : one)));
    this.#keep(item, room ? kept : { ...item, nextAt: kept.nextAt });
  }

  #known(input: Known["input"]): Known {
    const { actor } = this.#resident;
    const at = actor === null ? 0 : actorTime(actor.envelope, Date.now());
    return { input, at, by: null, principal: null };
  }

  /** The item as it is now; null when it went meanwhile. */
  #left(uid: string, effect: Effect): OutboxItem | null {
    const { actor, outbox } = this.#resident;
    if (actor?.envelope.uid !== uid) return null;
    return outbox.find((item) => item.effect === effect) ?? null;
  }

  /** Writes an item anew, or takes it out, with the alarm for what is left. */
  #keep(item: OutboxItem, next: OutboxItem | null): void {
    const { actor, outbox } = this.#resident;
    this.#resident.keepOutbox(outbox.flatMap((one) => (one !== item ? [one] : (next ?? []))));
    // An alarm that is at work is over once it has set another: that one is for whatever else is due as well.
    if (actor !== null && this.#wakeAt() !== null) this.#resident.ensureAlarm(actor);
  }

  #nudge(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/** False when the time comes first. */
async function changedBefore(changed: Promise<void>, until: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), Math.max(0, until - Date.now()));
  try {
    return await Promise.race([changed.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** ms after the first, second, … attempt that failed. */
function pauseAfter(attempts: number): number {
  return Math.min(LIMITS.effectRetryMs * 2 ** attempts, LIMITS.effectRetryMostMs);
}

function failureOf(error: unknown): AttemptFailure {
  if (error instanceof PerdureError) {
    const { code, detail } = error.failure;
    return { code, message: detail, retryable: true };
  }
  logError("error", error, { during: "carrying out an effect" });
  return { code: "failed", message: "Something failed on our side.", retryable: true };
}
