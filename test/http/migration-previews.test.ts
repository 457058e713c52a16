import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { entryShard, shardCount } from "../../src/directory/shards.ts";
import { expectReplays, records } from "../support/actors.ts";
import { call } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { inForce } from "../support/loans.ts";
import { Family, chainOf, idOf, ok, read, standing } from "../support/rule-calls.ts";

const DAY = 86_400_000;

/** Nested states and regions that wait. */
const TRIP = {
  initial: "draft",
  context: {},
  states: {
    draft: { on: { BOOK: "trip" }, after: { [DAY]: "over" } },
    trip: {
      type: "parallel",
      after: { [9 * DAY]: "over" },
      on: { END: "over" },
      states: {
        hotel: {
          initial: "asked",
          after: { [2 * DAY]: ".lost" },
          states: {
            asked: { on: { ROOM: "held" }, after: { [DAY]: "lost" } },
            held: {
              initial: "unpaid",
              states: { unpaid: { on: { PAY: "paid" }, after: { [3 * DAY]: "paid" } }, paid: {} },
            },
            lost: {},
          },
        },
        flight: {
          initial: "asked",
          states: { asked: { on: { SEAT: "seat" }, after: { [DAY]: "seat" } }, seat: {} },
        },
      },
    },
    over: {},
  },
};

/** The hotel is a room, what was held is kept; it waits otherwise, and asks for a visa besides. */
const TRIP2 = {
  ...TRIP,
  states: {
    ...TRIP.states,
    trip: {
      ...TRIP.states.trip,
      states: {
        room: {
          initial: "asked",
          states: {
            asked: { on: { ROOM: "kept" }, after: { [DAY]: "lost", [4 * DAY]: "lost" } },
            kept: {
              initial: "unpaid",
              after: { [8 * DAY]: "lost" },
              states: { unpaid: { on: { PAY: "paid" }, after: { [3 * DAY]: "paid" } }, paid: {} },
            },
            lost: {},
          },
        },
        flight: {
          initial: "asked",
          states: { asked: { on: { SEAT: "seat" } }, seat: { after: { [7 * DAY]: "asked" } } },
        },
      },
    },
  },
};

const RENAMED = { "trip.hotel": "trip.room", "trip.hotel.held": "trip.room.kept" };

describe("a preview", () => {
  it("says of each nested and parallel state where it leads, and counts timers as the moves then do", async () => {
    const family = await Family.of(TRIP);
    const lives = [
      ["BOOK"],
      ["BOOK"],
      ["BOOK", "ROOM"],
      ["BOOK", "ROOM", "PAY", "SEAT"],
      ["BOOK", "SEAT", "ROOM"],
    ];
    const paths = await Promise.all(lives.map((types) => family.lived(types)));
    const waiting = await family.lived([]);
    const body = family.second({ historyPath: ["BOOK"], stateMapping: RENAMED }, TRIP2);
    const at = (hotel: unknown, flight: string) => ({ trip: { hotel, flight } });
    const class1 = { definitionId: family.v1, class: "match" };
    const line = (hotel: unknown, room: unknown, flight: string, count: number) => ({
      ...class1,
      stateValue: at(hotel, flight),
      targetStateValue: { trip: { room, flight } },
      count,
    });
    const lines = [
      line("asked", "asked", "asked", 2),
      line({ held: "unpaid" }, { kept: "unpaid" }, "asked", 1),
      line({ held: "paid" }, { kept: "paid" }, "seat", 1),
      line({ held: "unpaid" }, { kept: "unpaid" }, "seat", 1),
      { ...class1, stateValue: "draft", targetStateValue: null, count: 1, class: "pending" },
    ];
    // Not before the directory knows the last step of each.
    const where = ({ stateValue, count }: Body) => JSON.stringify([stateValue, count]);
    const there = lines.map(where).toSorted().join();
    const plan = await family.planned(
      body,
      ({ byState }) => byState.map(where).toSorted().join() === there,
    );
    expect(plan).toMatchObject({ total: 6, match: 5, pending: 1, diverged: 0, unmappable: [] });
    expect(plan.byState).toHaveLength(lines.length);
    for (const one of lines) expect(plan.byState).toContainEqual(one);

    const { counts } = await family.moved(body);
    expect(counts).toMatchObject({ match: 5, migrated: 5, pending: 1, unmappable: 0 });
    const sums = { kept: 0, cancelled: 0, started: 0 };
    for (const path of paths) {
      const [{ stateValue: before }, move] = (await records(idOf(path))).slice(-2) as [Body, Body];
      expect(move).toMatchObject({ kind: "migrated", moved: { outcome: "migrated", dropped: [] } });
      for (const fate of ["kept", "cancelled", "started"] as const) {
        sums[fate] += move.moved[fate].length;
      }
      const { targetStateValue } = plan.byState.find(
        (one: Body) => JSON.stringify(one.stateValue) === JSON.stringify(before),
      );
      const actor = await read(path);
      expect(actor).toMatchObject({ definitionId: family.v2, stateValue: targetStateValue });
      const { kept, started } = move.moved;
      expect(actor.timers).toHaveLength(kept.length + started.length);
      await expectReplays(idOf(path));
    }
    expect(plan.timers).toEqual(sums);
    expect(Object.values(sums).every((sum) => sum > 0)).toBe(true);
    expect(await standing([waiting])).toEqual([family.v1]);
  });

  it("counts the activities that moves then carry, cancel and start", async () => {
    const invoked = (...ids: string[]) =>
      ids.map((id) => ({
        id,
        src: "task",
        input: { queue: "nobody" },
        onDone: "over",
        onError: "over",
      }));
    const trip = (...ids: string[]) => ({
      initial: "draft",
      states: { draft: { on: { BOOK: "booked" } }, booked: { invoke: invoked(...ids) }, over: {} },
    });
    const family = await Family.of(trip("hotel", "flight"));
    const paths = await Promise.all([family.lived(["BOOK"]), family.lived(["BOOK"])]);
    await family.lived([]);
    const body = family.second({ historyPath: ["BOOK"] }, trip("train", "hotel", "visa"));
    const plan = await family.planned(body, ({ match, pending }) => match === 2 && pending === 1);
    expect(plan.activities).toEqual({ kept: 2, cancelled: 2, started: 4 });
    await family.moved(body);
    for (const path of paths) {
      const { moved } = (await records(idOf(path))).at(-1) as Body;
      const listed = (ids: string[]) => ids.map((id) => ({ state: "booked", id, src: "task" }));
      expect(moved.activities).toEqual({
        kept: listed(["hotel"]),
        cancelled: listed(["flight"]),
        started: listed(["train", "visa"]),
      });
      const { activities } = await read(path);
      expect(activities.map(({ id, status }: Body) => `${id} ${status}`)).toEqual([
        "hotel running",
        "train running",
        "visa running",
        "flight cancelled",
      ]);
      await expectReplays(idOf(path));
    }
  });

  it("names those who came near: all that the path names, in order, but not as the rule wants it", async () => {
    const family = await Family.of(chainOf(["A", "B", "C"]));
    const near = await Promise.all(
      [
        ["C", "A", "B"],
        ["A", "C", "B"],
      ].map((types) => family.lived(types)),
    );
    for (const types of [["A", "B"], ["A"], ["B", "A"], ["C", "B"]]) await family.lived(types);
    const body = family.second({ historyPath: ["A", "B"] });
    const plan = await family.planned(
      body,
      ({ match, diverged, pending }) => match === 1 && diverged === 4 && pending === 1,
    );
    expect(plan.nearMisses).toBe(2);
    expect(plan.sampleIds.nearMisses.toSorted()).toEqual(near.map(idOf).toSorted());
    const loose = await family.preview({ ...body, match: "subsequence" });
    expect(loose.body).toMatchObject({ match: 3, nearMisses: 0, sampleIds: { nearMisses: [] } });
    expect(await ok(201, family.deploy(body))).toMatchObject({ nearMisses: 2 });
  });

  it("names actors from all over the directory", async () => {
    const family = await Family.of(chainOf(["A"]));
    await Promise.all(Array.from({ length: 40 }, () => family.lived(["A"])));
    const body = family.second({ historyPath: ["A"] });
    const plan = await family.planned(body, ({ match }) => match === 40);
    const count = (await shardCount(env, DEFAULT_TENANT, true)) as number;
    expect(count).toBeGreaterThan(4);
    const shards = plan.sampleIds.match.map((id: string) => entryShard(DEFAULT_TENANT, count, id));
    expect(new Set(shards).size).toBe(5);
  });

  it("replays logs of those who match, and says from which record on they would be other ones", async () => {
    const family = await Family.of(chainOf(["A", "B"]));
    const early = await family.lived(["A", "A", "B"]);
    const late = await family.lived(["A", "A", "A", "A", "B"]);
    const fine = await family.lived(["A", "A"]);
    await family.lived(["B", "A", "B"]);
    // The next version knows B up to its fourth state only in another way.
    const { states, ...machine } = chainOf(["A", "B"]) as Body;
    const other = { ...machine, states: { ...states, s2: { on: { A: states.s2.on.A } } } };
    const body = family.second({ historyPath: ["A", "A"], replay: { sample: 20 } }, other);
    const wanted = ({ match, diverged }: Body) => match === 3 && diverged === 1;
    const plan = await family.planned(body, wanted);
    const of = (replay: Body[]) => Object.fromEntries(replay.map((one) => [one.actorId, one]));
    const said = of(plan.replay);
    expect(Object.keys(said).toSorted()).toEqual([early, late, fine].map(idOf).toSorted());
    expect(said[idOf(early)]).toMatchObject({ ran: false, firstDivergence: { seq: 4 } });
    expect(said[idOf(fine)]).toEqual({ actorId: idOf(fine), ran: true });
    expect(said[idOf(late)]).toMatchObject({ ran: true });
    // A rule between the same two says the same.
    const lineage = { ...family.second({}, other) };
    await ok(201, family.deploy(lineage));
    const rule = { from: family.v1, to: family.v2, historyPath: ["A", "A"] };
    const again = { ...rule, replay: { sample: 20 } };
    const ruled = await ok(200, call("POST", "/v1/migrations/preview", { body: again, key: null }));
    expect(of(ruled.replay)).toEqual(said);
  });
});

describe("a definition", () => {
  it("shows the rule that it came with, as it is now, or that it is lineage alone", async () => {
    const family = await Family.of(chainOf(["A"]));
    const { rule } = await family
      .deploy(family.second({ historyPath: ["A"] }))
      .then(({ body }) => body);
    const third = { ...family.second({}), id: `${family.name}-v3`, parentId: family.v2 };
    await ok(201, family.deploy(third));
    const paused = await ok(200, call("POST", `/v1/migrations/${rule.id}/pause`));
    const expected: [string, object][] = [
      [family.v1, { parentId: null, rule: null }],
      [family.v2, { parentId: family.v1, rule: paused, inForceAt: paused.inForceAt }],
      [third.id, { parentId: family.v2, rule: null }],
    ];
    const { items } = await read("/v1/definitions?limit=10");
    for (const [id, shown] of expected) {
      expect(await read(`/v1/definitions/${id}`)).toMatchObject(shown);
      expect(items.find((one: Body) => one.id === id)).toMatchObject(shown);
    }
  });
});

describe("a spawn", () => {
  it("by family follows the rules that take everyone, once they are in force; one on the parent moves at birth", async () => {
    const family = await Family.of(chainOf(["A"]));
    const spawn = async (definitionId: string) =>
      ok(201, call("POST", "/v1/actors", { body: { definitionId } }));
    const requestedAs = family.name;
    expect(await spawn(family.name)).toMatchObject({ definitionId: family.v1, requestedAs });
    const rule = await family.moved(family.second({ match: "all" }));
    await inForce(rule);
    const named = await spawn(family.name);
    expect(named).toMatchObject({ definitionId: family.v2, requestedAs, seq: 1 });
    // Born on the version that was asked for, and moved before the answer.
    const old = await spawn(family.v1);
    expect(old).toMatchObject({ definitionId: family.v2, seq: 2, stateValue: "s0" });
    expect((await records(old.id)).map(({ kind }) => kind)).toEqual(["spawned", "migrated"]);
    await expectReplays(old.id);

    // A share of them, or a pause, is no rule for everyone.
    const patched = { body: { percent: 50 } };
    await ok(200, call("PATCH", `/v1/migrations/${rule.id}`, patched));
    expect((await spawn(family.name)).requestedAs).toBe(requestedAs);
    await ok(200, call("POST", `/v1/migrations/${rule.id}/pause`));
    const still = await read(`/v1/migrations/${rule.id}`);
    await inForce(still);
    expect(await spawn(family.name)).toMatchObject({
      definitionId: family.v1,
      requestedAs,
      seq: 1,
    });
    expect(await spawn(family.v1)).toMatchObject({ definitionId: family.v1, seq: 1 });
  });
});
