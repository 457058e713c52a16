import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  PAID,
  WAIVED,
  applicant,
  deployLoan,
  loanMachine,
  loanWithCheck,
  planned,
  secondVersion,
  send,
  swept,
} from "../support/loans.ts";
import type { Loans } from "../support/loans.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

/** The second version without the state in which those who paid stand. */
function withoutDocuments(loans: Loans, more: object = {}): object {
  const definition = loanWithCheck(loans.family) as { states: Record<string, object> };
  const { awaiting_documents: _, ...states } = definition.states;
  const { awaiting_fee: fee, ...others } = states;
  expect(fee).toBeDefined();
  const awaiting = { on: { PAY_FEE: "review", WAIVE_FEE: "review" } };
  return secondVersion(loans, {
    definition: { ...definition, states: { ...others, awaiting_fee: awaiting, expired: {} } },
    ...more,
  });
}

const get = (path: string) => call("GET", path);

describe("a plan", () => {
  it("says who would go where, and stores nothing", async () => {
    const loans = await deployLoan();
    const alice = await applicant(loans.v1, "alice", PAID);
    await applicant(loans.v1, "bob", WAIVED);
    await applicant(loans.v1, "carol", ["SUBMIT_INFO"]);
    const body = secondVersion(loans, { replay: { sample: 5 } });
    // The directory knows a change that was answered within a second.
    const plan = await until(
      () => call("POST", "/v1/definitions/preview", { body, key: null }),
      (answer) => answer.body.match === 1 && answer.body.diverged === 1,
    );
    const id = alice.slice("/v1/actors/".length);
    expect(plan).toMatchObject({
      status: 200,
      body: {
        total: 3,
        match: 1,
        pending: 1,
        diverged: 1,
        unmappable: [],
        timers: { kept: 1, cancelled: 0, started: 0 },
        sampleIds: { match: [id] },
        replay: [{ actorId: id, ran: true }],
      },
    });
    expect(plan.body).not.toHaveProperty("replaySample");
    expect(plan.body.byState).toContainEqual({
      definitionId: loans.v1,
      stateValue: "awaiting_documents",
      targetStateValue: "awaiting_documents",
      count: 1,
      class: "match",
    });
    expectProblem(await get(`/v1/definitions/${loans.v2}`), 404, "definition_not_found");
    const { body: none } = await call("POST", "/v1/definitions/preview", {
      body: secondVersion(loans),
    });
    expect(none).not.toHaveProperty("replay");
  });

  it("of a rule between deployed definitions replays on the later one, and says where a log diverges", async () => {
    const loans = await deployLoan();
    const alice = await applicant(loans.v1, "alice", PAID);
    const definition = loanMachine(loans.family, {
      awaiting_fee: { on: { PAY_CASH: "awaiting_documents" } },
    });
    const deploy = { id: loans.v2, definition, parentId: loans.v1 };
    expect((await call("PUT", "/v1/definitions", { body: deploy })).status).toBe(201);
    const body = { from: loans.v1, to: loans.v2, match: "all", replay: { sample: 20 } };
    const { body: plan } = await call("POST", "/v1/migrations/preview", { body, key: null });
    expect(plan).toMatchObject({ total: 1, match: 1 });
    expect(plan.replay).toMatchObject([
      { actorId: alice.slice("/v1/actors/".length), ran: false, firstDivergence: { seq: 3 } },
    ]);
  });
});

describe("a deploy that some actors could not follow", () => {
  it("goes through with the token of its plan, once", async () => {
    const loans = await deployLoan();
    const alice = await applicant(loans.v1, "alice", PAID);
    const body = withoutDocuments(loans);
    await until(
      () => call("POST", "/v1/definitions/preview", { body }),
      (answer) => answer.body.match === 1,
    );
    const refused = await call("PUT", "/v1/definitions", { body });
    expectProblem(refused, 409, "migration_needs_confirmation");
    const { plan } = refused.body;
    expect(plan).toMatchObject({ match: 1, unmappableTotal: 1 });
    expect(plan.unmappable).toMatchObject([
      {
        stateValue: "awaiting_documents",
        count: 1,
        sampleIds: [alice.slice("/v1/actors/".length)],
        reason: expect.stringContaining("state_missing"),
      },
    ]);
    const { confirmToken } = plan;
    const forged = confirmToken.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
    for (const other of [
      withoutDocuments(loans, { confirmToken: forged }),
      withoutDocuments(loans, { confirmToken: "t" }),
      withoutDocuments(loans, { confirmToken, percent: 50 }),
      withoutDocuments(loans, { confirmToken, id: `${loans.v2}b` }),
    ]) {
      const answer = await call("PUT", "/v1/definitions", { body: other });
      expectProblem(answer, 409, "migration_needs_confirmation");
      expect(answer.body.plan.confirmToken).not.toBe(confirmToken);
    }
    const confirmed = { ...body, confirmToken };
    const deployed = await call("PUT", "/v1/definitions", { body: confirmed });
    expect(deployed).toMatchObject({ status: 201, body: { rule: { from: loans.v1 } } });
    const again = await call("PUT", "/v1/definitions", { body: confirmed });
    expect(again).toMatchObject({
      status: 200,
      body: { idempotent: true, rule: { id: deployed.body.rule.id } },
    });
    const { counts, id } = await swept(deployed.body.rule.id);
    expect(counts).toMatchObject({ match: 1, migrated: 0, unmappable: 1 });
    const { items } = (await get(`/v1/migrations/${id}/items?outcome=unmappable`)).body;
    expect(items).toMatchObject([
      { outcome: "unmappable", reason: expect.stringContaining("state_missing") },
    ]);
    const { body: actor } = await get(alice);
    expect(actor).toMatchObject({ definitionId: loans.v1, status: "active" });
    expect(actor.needsAttention).toMatchObject([{ reason: "unmappable" }]);
    expect((await send(alice, "UPLOAD")).body).toMatchObject({ definitionId: loans.v2 });
  });

  it("counts nobody twice who was refused and then ended where he was", async () => {
    const loans = await deployLoan();
    const alice = await applicant(loans.v1, "alice", PAID);
    const body = withoutDocuments(loans);
    const preview = () => call("POST", "/v1/definitions/preview", { body });
    const { confirmToken } = (await until(preview, (answer) => answer.body.match === 1)).body;
    const deployed = await call("PUT", "/v1/definitions", { body: { ...body, confirmToken } });
    const { id, counts } = await swept(deployed.body.rule.id);
    expect(counts).toMatchObject({ match: 1, unmappable: 1, finished: 0 });
    expect((await call("POST", `${alice}/terminate`, { body: {} })).status).toBe(200);
    const progress = () => get(`/v1/migrations/${id}`);
    const { counts: then } = (await until(progress, (one) => one.body.counts.finished === 1)).body;
    expect(then).toMatchObject({ match: 0, migrated: 0, unmappable: 0, finished: 1 });
  });

  it("strands them where that is said, until somebody rescues them", async () => {
    const loans = await deployLoan();
    const alice = await applicant(loans.v1, "alice", PAID);
    const body = withoutDocuments(loans, { onUnmappable: "strand" });
    const preview = () => call("POST", "/v1/definitions/preview", { body });
    const { confirmToken } = (await until(preview, (answer) => answer.body.match === 1)).body;
    const deployed = await call("PUT", "/v1/definitions", { body: { ...body, confirmToken } });
    expect(deployed.status).toBe(201);
    const { counts } = await swept(deployed.body.rule.id);
    expect(counts).toMatchObject({ migrated: 0, unmappable: 1 });
    const refused = await send(alice, "UPLOAD");
    expectProblem(refused, 409, "actor_not_active");
    expect(refused.body.actorStatus).toBe("stranded");
    const rescue = { definitionId: loans.v2, stateValue: "review", reason: "by hand" };
    const rescued = await call("POST", `${alice}/rescue`, { body: rescue });
    expect(rescued.body).toMatchObject({ status: "active", stateValue: "review" });
    expect((await send(alice, "APPROVE")).body.stateValue).toBe("income_check");
  });
});

describe("the id of a definition that is deployed", () => {
  it("is refused with another rule, and the same again is answered again", async () => {
    const loans = await deployLoan();
    await applicant(loans.v1, "alice", PAID);
    const body = secondVersion(loans);
    const first = await call("PUT", "/v1/definitions", { body });
    expect(first.status).toBe(201);
    const same = await call("PUT", "/v1/definitions", { body });
    expect(same).toMatchObject({ status: 200, body: { idempotent: true } });
    expect(same.body.rule.id).toBe(first.body.rule.id);
    await swept(first.body.rule.id);
    for (const more of [
      { historyPath: ["SUBMIT_INFO"] },
      { match: "exact" },
      { since: "entry" },
      { percent: 50 },
      { onUnmappable: "strand" },
      { stateMapping: { review: "income_check" } },
      { contextMapping: { feePaid: 0 } },
      { historyPath: undefined },
    ]) {
      const answer = await call("PUT", "/v1/definitions", { body: { ...body, ...more } });
      expectProblem(answer, 409, "definition_exists");
      expect(answer.body.differs).toHaveProperty("rule");
    }
  });

  it("cannot be retired while a rule leads there", async () => {
    const loans = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(loans) })).body;
    for (const id of [loans.v1, loans.v2]) {
      expectProblem(await call("DELETE", `/v1/definitions/${id}`), 409, "definition_in_use");
    }
    expect((await call("POST", `/v1/migrations/${rule.id}/retire`)).status).toBe(200);
    expect((await call("DELETE", `/v1/definitions/${loans.v1}`)).status).toBe(204);
  });
});

describe("a rule", () => {
  async function rules(apiKey: string): Promise<{ loans: Loans; alice: string; ruleId: string }> {
    const loans = await deployLoan({ apiKey });
    const alice = await applicant(loans.v1, "alice", PAID, { apiKey });
    const body = secondVersion(loans, { percent: 0 });
    await planned(body, ({ match }) => match === 1, { apiKey });
    const { rule } = (await call("PUT", "/v1/definitions", { apiKey, body })).body;
    return { loans, alice, ruleId: rule.id };
  }

  it("is paused, resumed, widened, retried and retired; the same again changes nothing", async () => {
    const { apiKey } = await newTenant();
    const { loans, alice, ruleId } = await rules(apiKey);
    const path = `/v1/migrations/${ruleId}`;
    const held = await swept(ruleId, { apiKey });
    expect(held.counts).toMatchObject({ match: 1, migrated: 0, heldByCanary: 1 });
    const decisions = await call("GET", `${alice}/decisions`, { apiKey });
    expect(decisions.body.items).toMatchObject([{ decision: "match", outcome: "held" }]);

    const act = (action: string, key = fresh("key")) =>
      call("POST", `${path}/${action}`, { apiKey, key });
    const paused = await act("pause", "p");
    expect(paused).toMatchObject({ status: 200, body: { state: "paused" } });
    const again = await act("pause", "p");
    expect(again.body).toEqual(paused.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expectProblem(await act("resume", "p"), 422, "idempotency_key_reused");
    expect((await act("pause")).body.inForceAt).toBe(paused.body.inForceAt);
    const whole = { apiKey, body: { percent: 100 } };
    expect((await call("PATCH", path, whole)).body).toMatchObject({
      percent: 100,
      state: "paused",
    });
    expect((await send(alice, "NOTHING", null, { apiKey })).body.definitionId).toBe(loans.v1);
    expect((await act("resume")).body.state).toBe("sweeping");
    const done = await swept(ruleId, { apiKey });
    expect(done.counts).toMatchObject({ match: 1, migrated: 1, heldByCanary: 0 });
    expect((await act("retry")).body.state).toBe("sweeping");
    await swept(ruleId, { apiKey });
    expect((await act("retire")).body.state).toBe("retired");
    expect((await act("retire")).body.state).toBe("retired");
    for (const action of ["pause", "resume", "retry"]) {
      expectProblem(await act(action), 409, "rule_retired");
    }
    expectProblem(await call("PATCH", path, whole), 409, "rule_retired");
    expect((await call("GET", path, { apiKey })).body.counts.migrated).toBe(1);
  });

  it("of its own is made once with one key, replaces another, and is listed", async () => {
    const { apiKey } = await newTenant();
    const { loans, alice, ruleId } = await rules(apiKey);
    const body = { from: loans.v1, to: loans.v2, match: "all", replaces: ruleId };
    const key = fresh("rule");
    const made = await call("POST", "/v1/migrations", { apiKey, body, key });
    expect(made).toMatchObject({
      status: 201,
      body: { match: "all", historyPath: [], percent: 100, replaces: ruleId, state: "sweeping" },
    });
    expect(made.headers.get("Location")).toBe(`/v1/migrations/${made.body.id}`);
    const again = await call("POST", "/v1/migrations", { apiKey, body, key });
    expect(again).toMatchObject({ status: 201, body: { id: made.body.id } });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    const replaced = await call("GET", `/v1/migrations/${ruleId}`, { apiKey });
    expect(replaced.body).toMatchObject({ state: "retired", replacedBy: made.body.id });
    await swept(made.body.id, { apiKey });
    expect((await call("GET", alice, { apiKey })).body.definitionId).toBe(loans.v2);

    const first = await call("GET", "/v1/migrations?limit=1", { apiKey });
    expect(first.body.items).toMatchObject([{ id: made.body.id }]);
    const cursor = first.body.nextCursor;
    const second = await call("GET", `/v1/migrations?limit=1&cursor=${cursor}`, { apiKey });
    expect(second.body).toMatchObject({ items: [{ id: ruleId }], nextCursor: null });
  });

  it("tells what became of many, a page at a time", async () => {
    const { apiKey } = await newTenant();
    const loans = await deployLoan({ apiKey });
    const paths = await Promise.all(
      Array.from({ length: 5 }, () => applicant(loans.v1, "many", PAID, { apiKey })),
    );
    const ids = paths.map((path) => path.slice("/v1/actors/".length)).sort();
    const body = secondVersion(loans);
    const { rule } = (await call("PUT", "/v1/definitions", { apiKey, body })).body;
    await swept(rule.id, { apiKey });
    const found: string[] = [];
    let cursor = "";
    do {
      const query = `limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = await call("GET", `/v1/migrations/${rule.id}/items?${query}`, { apiKey });
      expect(page.status).toBe(200);
      found.push(...page.body.items.map(({ actorId }: { actorId: string }) => actorId));
      cursor = page.body.nextCursor ?? "";
    } while (cursor !== "");
    expect(found).toEqual(ids);
    const wrong = await call("GET", `/v1/migrations/${rule.id}/items?limit=2`, { apiKey });
    const other = `/v1/migrations/${rule.id}/items?outcome=failed&cursor=${wrong.body.nextCursor}`;
    expectProblem(await call("GET", other, { apiKey }), 400, "cursor_invalid");
  });

  it("is not counted by a server that keeps no directory", async () => {
    const { apiKey } = await newTenant();
    const { ruleId } = await rules(apiKey);
    const options = { apiKey, env: { PERDURE_DIRECTORY: "off" as const } };
    for (const path of [`/v1/migrations/${ruleId}`, `/v1/migrations/${ruleId}/items`]) {
      expectProblem(await call("GET", path, options), 503, "not_configured");
    }
    expect((await call("GET", "/v1/migrations", options)).body.items).toHaveLength(1);
  });
});

describe("a limit", () => {
  it("of rules from one definition is met at the limit and not before", async () => {
    const { apiKey } = await newTenant();
    const loans = await deployLoan({ apiKey });
    const deploy = { id: loans.v2, definition: loanWithCheck(loans.family), parentId: loans.v1 };
    await call("PUT", "/v1/definitions", { apiKey, body: deploy });
    const make = (name: string) => {
      const body = { from: loans.v1, to: loans.v2, historyPath: [name] };
      return call("POST", "/v1/migrations", { apiKey, body });
    };
    for (let made = 0; made < LIMITS.rulesPerDefinition; made += 1) {
      expect((await make(`EVENT_${made}`)).status).toBe(201);
    }
    const over = await make("ONE_MORE");
    expectProblem(over, 422, "limit_exceeded");
    expect(over.body.limit).toBe("rulesPerDefinition");
  });
});
