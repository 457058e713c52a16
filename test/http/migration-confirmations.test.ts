import { afterEach, describe, expect, it, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem } from "../support/api.ts";
import type { Answer, Body } from "../support/api.ts";
import { lowered } from "../support/limits.ts";
import { swept } from "../support/loans.ts";
import { Family, chainOf, idOf, ok, read, standing } from "../support/rule-calls.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const AB = chainOf(["A", "B"]);
/** Without a place for those who have handled one event. */
const { s1: _, ...others } = (AB as Body).states;
const NARROW = { ...AB, states: { ...others, s0: {} } };

function expectUnconfirmed(answer: Answer, reason?: string): void {
  expectProblem(answer, 409, "migration_needs_confirmation");
  expect(answer.body.reason).toBe(reason);
  expect(answer.body.plan.confirmToken).toMatch(/^pct_/);
}

describe("a token", () => {
  it("is valid for ten minutes", async () => {
    const family = await Family.of(AB);
    await family.lived(["A"]);
    const body = family.second({ historyPath: ["A"] }, NARROW);
    const { confirmToken } = await family.planned(body, ({ match }) => match === 1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.confirmTokenMs });
    const late = await family.deploy({ ...body, confirmToken });
    expectUnconfirmed(late, "token_expired");
    expect(
      (await family.deploy({ ...body, confirmToken: late.body.plan.confirmToken })).status,
    ).toBe(201);
  });

  it("is used once", async () => {
    const family = await Family.of(AB);
    await family.lived(["A"]);
    await ok(201, family.deploy(family.second({}, NARROW)));
    const rule = { from: family.v1, to: family.v2, historyPath: ["A"] };
    const preview = () => call("POST", "/v1/migrations/preview", { body: rule, key: null });
    const { body: plan } = await until(preview, ({ body }) => body.unmappableTotal === 1);
    const make = (more: object) => call("POST", "/v1/migrations", { body: { ...rule, ...more } });
    expectUnconfirmed(await make({}));
    const { confirmToken } = plan;
    for (const other of [
      { historyPath: undefined, match: "all" },
      { contextMapping: { n: 0 } },
      { onUnmappable: "strand" },
      { percent: 99 },
    ]) {
      expectUnconfirmed(await make({ confirmToken, ...other }), "token_of_another_body");
    }
    expectUnconfirmed(await make({ confirmToken: `${confirmToken}0` }), "token_invalid");
    const made = await ok(201, make({ confirmToken }));
    await ok(200, call("POST", `/v1/migrations/${made.id}/retire`));
    const again = await make({ confirmToken });
    expectUnconfirmed(again, "token_used");
    await ok(201, make({ confirmToken: again.body.plan.confirmToken }));
  });

  it("counts while things got no more than 10 actors, or a tenth, worse", async () => {
    const family = await Family.of(AB);
    await family.lived(["A"]);
    const first = family.second({ historyPath: ["A"] }, NARROW);
    const second = { ...first, id: `${family.name}-v3` };
    const [one, two] = [
      await family.planned(first, ({ match }) => match === 1),
      await family.planned(second, ({ match }) => match === 1),
    ];
    await Promise.all(Array.from({ length: 10 }, () => family.lived(["A"])));
    await family.planned(first, ({ match }) => match === 11);
    await ok(201, family.deploy({ ...first, confirmToken: one.confirmToken }));
    await family.lived(["A"]);
    await family.planned(second, ({ match }) => match === 12);
    const worse = await family.deploy({ ...second, confirmToken: two.confirmToken });
    expectUnconfirmed(worse, "counts_worse");
    expect(worse.body.plan).toMatchObject({ match: 12, unmappableTotal: 12 });
    const { confirmToken } = worse.body.plan;
    await ok(201, family.deploy({ ...second, confirmToken }));
  });

  it("is of its tenant", async () => {
    const family = await Family.of(AB);
    await family.lived(["A"]);
    const body = family.second({ historyPath: ["A"] }, NARROW);
    await family.planned(body, ({ match }) => match === 1);
    for (const confirmToken of [
      "",
      "t",
      `pct_${"0".repeat(64)}_1_9999999999999_${"0".repeat(32)}_${"0".repeat(64)}`,
    ]) {
      expectUnconfirmed(await family.deploy({ ...body, confirmToken }), "token_invalid");
    }
    const long = { ...body, confirmToken: "t".repeat(LIMITS.textChars + 1) };
    expectProblem(await family.deploy(long), 400, "invalid_request");
  });
});

describe("what became of an actor by a rule", () => {
  it("is listed, whatever it is, and a retry with nothing failed changes nothing", async () => {
    const family = await Family.of(AB);
    const moved = await family.lived(["A", "B"]);
    const undone = await family.lived(["A", "B", "A"]);
    const stuck = await family.lived(["A"]);
    const unreachable = await family.lived(["A", "A", "A", "A"]);
    const real = ActorObject.prototype.migrate;
    const restore = lowered("sweepAttempts", 1);
    const visits = vi.spyOn(ActorObject.prototype, "migrate").mockImplementation(async function (
      this: ActorObject,
      visit,
    ) {
      if (visit.id !== idOf(unreachable)) return await real.call(this, visit);
      return { ok: false, failure: { code: "unavailable", detail: "It cannot be reached." } };
    });
    const body = family.second({ historyPath: ["A"] }, NARROW);
    await family.planned(body, ({ match }) => match === 4);
    const { id } = await family.moved(body, true);
    await ok(200, call("POST", `${undone}/rollback`, { body: { reason: "not yet" } }));
    const path = `/v1/migrations/${id}`;
    const items = async (query: string): Promise<Body[]> =>
      (await read(`${path}/items${query}`)).items;
    const expected = [
      { actorId: idOf(moved), outcome: "migrated", decidedAtSeq: 2 },
      { actorId: idOf(undone), outcome: "rolled_back", decidedAtSeq: 2 },
      {
        actorId: idOf(stuck),
        outcome: "unmappable",
        decidedAtSeq: 2,
        reason: expect.stringContaining("state_missing: "),
      },
      {
        actorId: idOf(unreachable),
        outcome: "failed",
        decidedAtSeq: null,
        reason: "unavailable: It cannot be reached.",
      },
    ];
    await until(
      () => items("?outcome=rolled_back"),
      (found) => found.length === 1,
    );
    for (const one of expected) {
      expect(await items(`?outcome=${one.outcome}`)).toMatchObject([one]);
    }
    expect(await items("?outcome=stranded")).toEqual([]);
    const byId = expected.toSorted((a, b) => (a.actorId < b.actorId ? -1 : 1));
    expect(await items("")).toMatchObject(byId);
    // Counts are shared for a second.
    const { counts } = await until(
      () => read(path),
      (rule) => rule.counts.migrated === 1,
    );
    expect(counts).toMatchObject({ match: 4, migrated: 1, unmappable: 1, failed: 1 });

    visits.mockRestore();
    restore();
    await ok(200, call("POST", `${path}/retry`));
    const done = await swept(id);
    expect(done.counts).toMatchObject({ match: 4, migrated: 2, unmappable: 1, failed: 0 });
    expect(await items("?outcome=failed")).toEqual([]);
    await ok(200, call("POST", `${path}/retry`));
    const again = await swept(id);
    expect(again.counts).toEqual(done.counts);
    expect(await standing([moved, undone, stuck, unreachable])).toEqual([
      family.v2,
      family.v1,
      family.v1,
      family.v2,
    ]);
  });

  it("is listed where it was stranded", async () => {
    const family = await Family.of(AB);
    const stuck = await family.lived(["A"]);
    const body = family.second({ historyPath: ["A"], onUnmappable: "strand" }, NARROW);
    await family.planned(body, ({ match }) => match === 1);
    const { id } = await family.moved(body, true);
    const { items } = await read(`/v1/migrations/${id}/items?outcome=stranded`);
    expect(items).toMatchObject([{ actorId: idOf(stuck), outcome: "stranded", decidedAtSeq: 2 }]);
  });
});
