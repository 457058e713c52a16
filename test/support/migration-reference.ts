import { isTaken } from "../../src/migration/rule.ts";
import { referenceDecision } from "./history-reference.ts";
import { LEASE_MS } from "./migration-world.ts";
import type { Change, Happening, Version, World, WrittenRule } from "./migration-world.ts";

/** What made a record, and by which version it was handled. */
export interface Input {
  type: string;
  at: number;
  epoch: number;
  /** Of a timer. */
  dueAt: number | null;
  handled: boolean;
  version: string;
}

export interface Lived {
  inputs: Input[];
  version: string;
  state: string;
  /** The activity that runs: its id, and how many had begun before it. Null where none does. */
  activity: { id: string; nth: number } | null;
}

interface Timer {
  state: string;
  delayMs: number;
  dueAt: number;
}

/**
 * The life of one actor as docs/migration.md defines it, with nothing else in mind: no automata, no hashes, no caches,
 * every rule looked at anew at every point, visits of sweeps included.
 */
export function referenceLife(world: World): Lived {
  const life = new Life(world);
  for (const happening of world.happenings) {
    if (happening.kind === "crash") continue;
    if (happening.kind === "result") life.resultIn(happening);
    else life.transaction(happening, happening.kind === "event" ? happening.type : null);
  }
  // At the end everyone is visited once, so that idle ones compare.
  life.transaction(endOf(world), null);
  return life.lived;
}

/** The same by the theorem: from the inputs and the changes of rules alone, with no point between inputs. */
export function referenceOfInputs(world: World, inputs: readonly Input[]): Lived {
  const life = new Life(world);
  for (const input of inputs) life.input(input);
  life.transaction(endOf(world), null);
  return life.lived;
}

export const END_MS = 100_000;

/** Everyone is visited, and knows every change. */
export function endOf({ changes }: World): Happening {
  return { at: END_MS, epoch: changes.length, kind: "visit" };
}

class Life {
  readonly #world: World;
  readonly #inputs: Input[] = [];
  readonly #history: string[] = [];
  readonly #moved = new Set<string>();
  #version: Version;
  #state = "idle";
  #enteredAt = 0;
  #sinceEntry = 0;
  #timer: Timer | null = null;
  #activity: Lived["activity"] = null;
  #begun = 0;

  constructor(world: World) {
    this.#world = world;
    this.#version = world.versions[0] as Version;
    this.#enter("idle", 0);
  }

  get lived(): Lived {
    const { id } = this.#version;
    return { inputs: this.#inputs, version: id, state: this.#state, activity: this.#activity };
  }

  transaction(point: Pick<Happening, "at" | "epoch">, type: string | null): void {
    const { at, epoch } = point;
    for (;;) {
      if (this.#moves(epoch)) continue;
      if (this.#timer === null || this.#timer.dueAt > at) break;
      this.#fire(this.#timer, at, epoch);
    }
    if (type === null) return;
    this.#event(type, at, epoch);
    this.transaction(point, null);
  }

  /** A transaction whose input is the result of what runs by then. */
  resultIn(point: Pick<Happening, "at" | "epoch">): void {
    this.transaction(point, null);
    if (this.#activity === null) return;
    this.#result(point.at, point.epoch);
    this.transaction(point, null);
  }

  /** An input that is known to have happened. */
  input({ type, at, epoch, dueAt }: Input): void {
    while (this.#moves(epoch));
    if (dueAt === null) {
      if (!type.startsWith("@done:")) this.#event(type, at, epoch);
      else if (type === `@done:${this.#activity?.id}`) this.#result(at, epoch);
      else throw new Error(`There is no activity here for ${type}`);
      return;
    }
    const timer = this.#timer;
    if (timer?.dueAt !== dueAt)
      throw new Error(`There is no ${type} here that was due at ${dueAt}`);
    this.#fire(timer, at, epoch);
  }

  #fire(timer: Timer, at: number, epoch: number): void {
    this.#timer = null;
    const to = this.#version.states[timer.state]?.after?.to;
    const type = `@timer:${timer.state}:${timer.delayMs}`;
    this.#take({ type, at, epoch, dueAt: timer.dueAt }, to);
  }

  #event(type: string, at: number, epoch: number): void {
    this.#take({ type, at, epoch, dueAt: null }, this.#version.states[this.#state]?.on[type]);
  }

  #result(at: number, epoch: number): void {
    const type = `@done:${this.#activity?.id}`;
    this.#activity = null;
    this.#take({ type, at, epoch, dueAt: null }, this.#version.states[this.#state]?.invoke?.to);
  }

  #take(input: Omit<Input, "handled" | "version">, to: string | undefined): void {
    const handled = to !== undefined;
    this.#inputs.push({ ...input, handled, version: this.#version.id });
    if (!handled) return;
    this.#history.push(input.type);
    if (to !== this.#state) this.#enter(to, input.at);
  }

  #enter(state: string, at: number): void {
    this.#state = state;
    this.#enteredAt = at;
    this.#timer = this.#timerOf(state);
    this.#activity = this.#begin(state);
  }

  #begin(state: string): Lived["activity"] {
    const invoke = this.#version.states[state]?.invoke ?? null;
    return invoke === null ? null : { id: invoke.id, nth: this.#begun++ };
  }

  #timerOf(state: string): Timer | null {
    const after = this.#version.states[state]?.after ?? null;
    if (after === null) return null;
    return { state, delayMs: after.delayMs, dueAt: this.#enteredAt + after.delayMs };
  }

  /** Evaluates the rules that will be in force when the next timer is due; whether one moved the actor. */
  #moves(epoch: number): boolean {
    const bound = this.#timer?.dueAt ?? Infinity;
    const applying = rulesOf(this.#world)
      .map((rule) => ({ rule, since: takenSince(this.#world, rule, epoch) }))
      .filter(
        ({ rule, since }) =>
          since !== null &&
          inForceAt(this.#world, since) <= bound &&
          rule.from === this.#version.id &&
          !this.#moved.has(rule.id) &&
          this.#matches(rule),
      )
      .sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
    const winner = applying[0]?.rule;
    if (winner === undefined) return false;
    const to = this.#world.versions.find(({ id }) => id === winner.to) as Version;
    const state = winner.stateMapping[this.#state] ?? this.#state;
    if (!Object.hasOwn(to.states, state)) return false;
    this.#move(winner, to, state);
    return true;
  }

  #matches(rule: WrittenRule): boolean {
    const types = rule.since === "entry" ? this.#history.slice(this.#sinceEntry) : this.#history;
    return referenceDecision(rule, types) === "match";
  }

  #move(rule: WrittenRule, to: Version, state: string): void {
    const delayBefore = this.#version.states[this.#state]?.after?.delayMs;
    const ran = this.#version.states[this.#state]?.invoke;
    this.#version = to;
    this.#state = state;
    this.#moved.add(rule.id);
    this.#sinceEntry = this.#history.length;
    const wanted = this.#timerOf(state);
    // The same delay: the same timer, fired or not; another one starts, counted from when the state was entered.
    const same = wanted !== null && wanted.delayMs === delayBefore;
    this.#timer = same ? this.#timer && wanted : wanted;
    // The same activity goes on, done or not; another one begins.
    const runs = to.states[state]?.invoke;
    const goesOn = runs && ran && runs.id === ran.id && runs.src === ran.src;
    if (!goesOn) this.#activity = this.#begin(state);
  }
}

function inForceAt({ changes }: World, epoch: number): number {
  return (changes[epoch - 1] as Change).at + LEASE_MS;
}

function rulesOf({ changes }: World): WrittenRule[] {
  return changes.flatMap((change) => (change.kind === "deploy" ? [change.rule] : []));
}

/** The epoch since which a rule has taken the actor without a break, as of `epoch`; null where it does not. */
function takenSince(
  { changes, uid }: Pick<World, "changes" | "uid">,
  { id }: Pick<WrittenRule, "id">,
  epoch: number,
): number | null {
  let state: "none" | "active" | "paused" | "retired" = "none";
  let percent = 0;
  let since: number | null = null;
  for (const [index, change] of changes.slice(0, epoch).entries()) {
    if (change.kind === "deploy") {
      if (change.replaces === id && state !== "none") state = "retired";
      if (change.rule.id === id) {
        state = "active";
        ({ percent } = change);
      }
    } else if (change.ruleId === id && state !== "none" && state !== "retired") {
      if (change.kind === "pause") state = "paused";
      else if (change.kind === "resume") state = "active";
      else if (change.kind === "retire") state = "retired";
      else if (change.kind === "percent") ({ percent } = change);
    }
    const taken = state === "active" && isTaken({ id, percent }, uid);
    since = taken ? (since ?? index + 1) : null;
  }
  return since;
}
