import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  NOT_BEGUN,
  advance,
  begin,
  behind,
  conclude,
  follow,
  stepOf,
} from "../../src/sweep/course.ts";
import type { Course, Orders, Place } from "../../src/sweep/course.ts";

const LEASE = 3;
const PAGE = 2;

interface Candidate {
  id: string;
  shard: number;
  stage: Place["stage"];
  /** Epoch from which on it is one: a higher percentage takes more, and actors go on meanwhile. */
  since: number;
}

type Action =
  | { do: "pause" | "resume" | "raise" | "retire" | "poke" | "again" | "tick" }
  | { do: "hear"; of: number }
  | { do: "work"; dies: boolean; stopsAt: number };

/** A registry, shards and actors, and a sweep of which only what is stored outlives a step. */
class World {
  orders: Orders = { state: "active", epoch: 1, inForceAt: LEASE };
  now = 0;
  stored = JSON.stringify(NOT_BEGUN);
  /** Id of a candidate → the youngest epoch that it was asked in. */
  readonly asked = new Map<string, number>();
  readonly told: number[] = [];
  readonly #shards: number;
  readonly #candidates: Candidate[];

  constructor(shards: number, candidates: Candidate[]) {
    this.#shards = shards;
    this.#candidates = candidates.map((one) => ({ ...one }));
  }

  get course(): Course {
    return JSON.parse(this.stored) as Course;
  }

  poke(again: boolean): void {
    this.stored = JSON.stringify(follow(this.course, this.orders, again, this.now));
  }

  act(action: Action): void {
    this.now += 1;
    const { state } = this.orders;
    switch (action.do) {
      case "tick":
        return;
      case "poke":
      case "again":
        this.poke(action.do === "again");
        return;
      case "work":
        this.work(action.dies, action.stopsAt);
        return;
      case "hear":
        this.#hear(action.of);
        return;
      case "pause":
        if (state === "active") this.#change("paused", false);
        return;
      case "retire":
        if (state !== "retired") this.#change("retired", false);
        return;
      default:
        if (state !== "retired" && (action.do === "raise") === (state === "active")) {
          this.#change("active", true);
        }
    }
  }

  /** One alarm's step, which may end at any actor; a look at the rule comes before it. */
  work(dies: boolean, stopsAt: number): boolean {
    this.poke(false);
    const step = stepOf(this.course, this.orders, { waiting: false, crowded: false }, this.now);
    switch (step.do) {
      case "rest":
      case "wait":
        return false;
      case "tell":
        this.told.push(this.course.done as number);
        if (!dies) this.#save({ ...this.course, told: this.course.done });
        return true;
      case "begin":
        if (!dies) this.#save(begin(this.course));
        return true;
      case "conclude":
        if (!dies) this.#save(conclude(this.course, this.now));
        return true;
      case "page":
        this.#page(step.place, dies, stopsAt);
        return true;
      default:
        throw new Error("nobody fails here");
    }
  }

  #page(place: Place, dies: boolean, stopsAt: number): void {
    expect(this.now).toBeGreaterThanOrEqual(this.orders.inForceAt);
    const { epoch } = this.orders;
    const all = this.candidates(epoch).filter(
      ({ id, shard, stage }) =>
        shard === place.shard &&
        (stage === place.stage || place.stage === "pending") &&
        (place.after === null || id > place.after),
    );
    const items = all.slice(0, PAGE);
    const asked = items.slice(0, stopsAt);
    for (const { id } of asked) this.asked.set(id, epoch);
    if (dies) return;
    const last = items.at(-1)?.id ?? null;
    const next =
      asked.length === items.length
        ? behind(place, all.length > items.length ? last : null, this.#shards)
        : { ...place, after: asked.at(-1)?.id ?? place.after };
    this.#save(advance(this.course, next, { looked: asked.length, woken: asked.length }));
  }

  candidates(epoch: number): Candidate[] {
    return this.#candidates.filter(({ since }) => since <= epoch);
  }

  /** The directory learns that one of those who are pending matches. */
  #hear(of: number): void {
    const pending = this.#candidates.filter(({ stage }) => stage === "pending");
    const one = pending[of % Math.max(1, pending.length)];
    if (one !== undefined) one.stage = "match";
  }

  #save(course: Course): void {
    this.stored = JSON.stringify(course);
  }

  #change(state: Orders["state"], applies: boolean): void {
    const { epoch, inForceAt } = this.orders;
    this.orders = {
      state,
      epoch: epoch + 1,
      inForceAt: applies ? this.now + LEASE : inForceAt,
    };
  }
}

const action = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant("work" as const),
      dies: fc.nat(4).map((n) => n === 0),
      stopsAt: fc.nat(PAGE),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("hear" as const), of: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "pause",
        "resume",
        "raise",
        "poke",
        "again",
        "tick",
        "tick",
      ) as fc.Arbitrary<"pause" | "resume" | "raise" | "poke" | "again" | "tick">,
    }),
  },
);

const candidates = (shards: number) =>
  fc.uniqueArray(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 3 }),
      shard: fc.nat(shards - 1),
      stage: fc.constantFrom("match" as const, "pending" as const),
      since: fc.nat(6),
    }),
    { selector: ({ id }) => id, maxLength: 20, size: "max" },
  );

const world = fc
  .integer({ min: 1, max: 3 })
  .chain((shards) => candidates(shards).map((list) => ({ shards, list: list.toSorted(byId) })));

function byId(one: Candidate, other: Candidate): number {
  return one.id < other.id ? -1 : 1;
}

/** Who has finished has asked everybody that the rule is about, in its epoch or later. */
function expectAllAsked(made: World): void {
  const { course, orders } = made;
  if (course.state !== "finished" || orders.state !== "active" || course.epoch < orders.epoch)
    return;
  const missed = made
    .candidates(orders.epoch)
    .filter(({ id }) => (made.asked.get(id) ?? -1) < orders.epoch);
  expect(missed).toEqual([]);
}

describe("the course of a sweep", () => {
  it("asks every candidate in the rule's last epoch, whatever crashes, pauses and changes there are", () => {
    let finished = 0;
    fc.assert(
      fc.property(
        world,
        fc.array(action, { maxLength: 150, size: "max" }),
        ({ shards, list }, actions) => {
          const made = new World(shards, list);
          for (const one of actions) {
            made.act(one);
            expectAllAsked(made);
            const { state, epoch } = made.course;
            if (state === "finished" && epoch > 1 && epoch === made.orders.epoch) finished += 1;
          }
          if (made.orders.state === "paused") made.act({ do: "resume" });
          for (let steps = 0; steps < 500; steps += 1)
            made.act({ do: "work", dies: false, stopsAt: PAGE });
          expect(made.course).toMatchObject({ state: "finished", pass: null, again: false });
          expectAllAsked(made);
          expect(made.told.at(-1)).toBeGreaterThanOrEqual(made.orders.epoch);
          // And then it rests.
          const rests = made.stored;
          made.poke(false);
          expect(made.work(false, PAGE)).toBe(false);
          expect(made.stored).toBe(rests);
        },
      ),
      { numRuns: 500 },
    );
    // Not only at the very end.
    expect(finished).toBeGreaterThan(20);
  });

  it("ends where the rule is retired, keeps what was counted, and tells so", () => {
    fc.assert(
      fc.property(
        world,
        fc.array(action, { maxLength: 40, size: "max" }),
        ({ shards, list }, actions) => {
          const made = new World(shards, list);
          for (const one of actions) made.act(one);
          const { visited, woken, state } = made.course;
          made.act({ do: "retire" });
          made.poke(false);
          const calls = made.asked.size;
          for (let steps = 0; steps < 5; steps += 1) made.work(false, PAGE);
          const { course } = made;
          expect(course).toMatchObject({ visited, woken, pass: null, done: made.orders.epoch });
          expect(course.state).toBe(state === "none" ? "none" : "finished");
          expect(made.told.at(-1)).toBe(made.orders.epoch);
          expect(made.asked.size).toBe(calls);
        },
      ),
    );
  });

  it("does nothing again at the epoch that it finished in, unless it is told to", () => {
    const made = new World(1, []);
    for (let steps = 0; steps < 20; steps += 1)
      made.act({ do: "work", dies: false, stopsAt: PAGE });
    const { stored } = made;
    expect(made.course.state).toBe("finished");
    made.poke(false);
    expect(made.stored).toBe(stored);
    made.poke(true);
    expect(made.course).toMatchObject({ state: "running", again: true, finishedAt: null });
  });

  it("keeps its place over a pause, and is paused only while it runs", () => {
    const orders: Orders = { state: "active", epoch: 1, inForceAt: 0 };
    const place: Place = { stage: "pending", shard: 2, after: "k" };
    const running = advance(begin(follow(NOT_BEGUN, orders, false, 5)), place, {
      looked: 9,
      woken: 4,
    });
    const paused = follow(running, { ...orders, state: "paused", epoch: 2 }, false, 6);
    expect(paused).toMatchObject({ state: "paused", pass: { epoch: 1, place }, visited: 9 });
    const none = { waiting: false, crowded: false };
    expect(stepOf(paused, { ...orders, state: "paused", epoch: 2 }, none, 7)).toEqual({
      do: "rest",
    });
    const resumed = { ...orders, epoch: 3, inForceAt: 20 };
    const again = follow(paused, resumed, false, 8);
    expect(again).toMatchObject({ state: "running", startedAt: 5 });
    expect(stepOf(again, resumed, none, 19)).toEqual({ do: "wait", until: 20 });
    expect(stepOf(again, resumed, none, 20)).toEqual({ do: "page", place });
    // That pass began before the rule was resumed, so it is not the last one.
    expect(conclude(advance(again, null, { looked: 0, woken: 0 }), 30).state).toBe("running");
    const idle = follow(NOT_BEGUN, { ...orders, state: "paused" }, false, 5);
    expect(idle.state).toBe("none");
  });

  it("goes by no older news", () => {
    const orders: Orders = { state: "paused", epoch: 4, inForceAt: 0 };
    const course = follow(NOT_BEGUN, orders, false, 5);
    expect(follow(course, { ...orders, state: "active", epoch: 3 }, true, 6)).toBe(course);
  });

  it("begins no new page while too many wait, and ends only when nobody waits", () => {
    const orders: Orders = { state: "active", epoch: 1, inForceAt: 0 };
    const course = begin(follow(NOT_BEGUN, orders, false, 0));
    expect(stepOf(course, orders, { waiting: true, crowded: true }, 1).do).toBe("try again");
    expect(stepOf(course, orders, { waiting: true, crowded: false }, 1).do).toBe("page");
    const through = advance(course, null, { looked: 0, woken: 0 });
    expect(stepOf(through, orders, { waiting: true, crowded: false }, 1).do).toBe("try again");
    expect(stepOf(through, orders, { waiting: false, crowded: false }, 1).do).toBe("conclude");
  });
});
