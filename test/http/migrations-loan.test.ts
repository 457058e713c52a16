import { beforeAll, describe, expect, it } from "vitest";
import { call, expectProblem } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import {
  PAID,
  WAIVED,
  applicant,
  deployLoan,
  inForce,
  planned,
  secondVersion,
  send,
  swept,
} from "../support/loans.ts";
import type { Loans } from "../support/loans.ts";

describe("two loans in one state, of which one was paid for", () => {
  let loans: Loans;
  let alice: string;
  let bob: string;
  let before: { alice: Body; bob: Body };
  let rule: Body;

  beforeAll(async () => {
    loans = await deployLoan();
    alice = await applicant(loans.v1, "alice", PAID);
    bob = await applicant(loans.v1, "bob", WAIVED);
    before = { alice: (await call("GET", alice)).body, bob: (await call("GET", bob)).body };
    expect(before.alice.stateValue).toEqual(before.bob.stateValue);
    const body = secondVersion(loans);
    await planned(body, ({ match, diverged }) => match === 1 && diverged === 1);
    const deployed = await call("PUT", "/v1/definitions", { body });
    expect(deployed).toMatchObject({
      status: 201,
      body: { parentId: loans.v1, rule: { from: loans.v1, to: loans.v2, percent: 100 } },
    });
    rule = await swept(deployed.body.rule.id);
  }, 60_000);

  it("move by what they lived through: Alice goes on in v2, Bob in v1", async () => {
    const after = { alice: (await call("GET", alice)).body, bob: (await call("GET", bob)).body };
    expect(after.bob).toEqual(before.bob);
    const { definitionId, seq, updatedAt, ...same } = after.alice;
    expect({ definitionId, seq }).toEqual({ definitionId: loans.v2, seq: before.alice.seq + 1 });
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.alice.updatedAt));
    expect({ ...before.alice, ...same }).toEqual(before.alice);
    expect(same.context.entered).toBe(1);
  });

  it("are counted, and named", async () => {
    expect(rule.counts).toEqual({
      match: 1,
      migrated: 1,
      pending: 0,
      diverged: 1,
      unmappable: 0,
      heldByCanary: 0,
      finished: 0,
      failed: 0,
    });
    expect(rule.sweep.finishedAt).not.toBeNull();
    expect(rule.sweep.woken).toBe(1);
    const { items } = (await call("GET", `/v1/migrations/${rule.id}/items`)).body;
    expect(items).toEqual([
      {
        actorId: before.alice.id,
        outcome: "migrated",
        decidedAtSeq: 3,
        at: expect.stringMatching(/Z$/),
      },
    ]);
    const none = await call("GET", `/v1/migrations/${rule.id}/items?outcome=unmappable`);
    expect(none.body.items).toEqual([]);
  });

  it("have decisions that can be read, of both", async () => {
    const of = async (path: string) => (await call("GET", `${path}/decisions`)).body.items;
    expect(await of(alice)).toMatchObject([
      {
        ruleId: rule.id,
        from: loans.v1,
        to: loans.v2,
        decision: "match",
        outcome: "migrated",
        decidedAtSeq: 3,
        fingerprint: before.alice.historyFingerprint,
      },
    ]);
    expect(await of(bob)).toMatchObject([
      { ruleId: rule.id, decision: "diverged", outcome: "none", decidedAtSeq: 3 },
    ]);
  });

  it("go on differently", async () => {
    for (const [path, definitionId, stateValue] of [
      [alice, loans.v2, "income_check"],
      [bob, loans.v1, "approved"],
    ] as const) {
      await send(path, "UPLOAD");
      const sent = await send(path, "APPROVE");
      expect(sent.body).toMatchObject({ definitionId, stateValue, migratedTo: null });
    }
    expect((await call("POST", `${alice}/replay`)).body).toEqual({ identical: true });
  });
});

describe("an actor that nobody has swept", () => {
  it("handles its next event on the new version, and moves with the event that makes it match", async () => {
    const loans = await deployLoan();
    const late = await applicant(loans.v1, "late", ["SUBMIT_INFO"]);
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(loans) })).body;
    await inForce(rule);
    const paid = await send(late, "PAY_FEE", { amount: 80 });
    expect(paid.body).toMatchObject({
      type: "PAY_FEE",
      handled: true,
      definitionId: loans.v2,
      migratedTo: loans.v2,
      stateValue: "awaiting_documents",
    });
    expect(paid.body.actorSeq).toBe(paid.body.seq + 1);
    const { items } = (await call("GET", `${late}/events?after=${paid.body.seq}`)).body;
    expect(items).toMatchObject([{ kind: "migrated", type: null, payload: { ruleId: rule.id } }]);
  });
});

describe("a move", () => {
  async function moved(): Promise<{ path: string; loans: Loans; ruleId: string }> {
    const loans = await deployLoan();
    const path = await applicant(loans.v1, "alice", PAID);
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(loans) })).body;
    await swept(rule.id);
    return { path, loans, ruleId: rule.id };
  }

  it("is undone as long as nothing was accepted since, and the rule does not come back", async () => {
    const { path, loans, ruleId } = await moved();
    const body = { reason: "too early" };
    const key = "undo";
    const undone = await call("POST", `${path}/rollback`, { body, key });
    expect(undone).toMatchObject({
      status: 200,
      body: { definitionId: loans.v1, stateValue: "awaiting_documents" },
    });
    expect(undone.headers.get("ETag")).toBe(`"${undone.body.seq}"`);
    const again = await call("POST", `${path}/rollback`, { body, key });
    expect(again).toMatchObject({ status: 200, body: { seq: undone.body.seq } });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expectProblem(await call("POST", `${path}/rollback`), 409, "rollback_refused");
    const sent = await send(path, "UPLOAD");
    expect(sent.body).toMatchObject({ definitionId: loans.v1, migratedTo: null });
    const { items } = (await call("GET", `${path}/decisions`)).body;
    expect(items).toMatchObject([{ ruleId, decision: "match", outcome: "rolled_back" }]);
  });

  it("is not undone once an event was accepted", async () => {
    const { path } = await moved();
    await send(path, "UPLOAD");
    const refused = await call("POST", `${path}/rollback`);
    expectProblem(refused, 409, "rollback_refused");
    const stale = await call("POST", `${path}/rollback`, { headers: { "If-Match": '"1"' } });
    expectProblem(stale, 412, "seq_mismatch");
  });

  it("that never was cannot be undone", async () => {
    const { v1 } = await deployLoan();
    const path = await applicant(v1, "bob", WAIVED);
    expectProblem(await call("POST", `${path}/rollback`), 409, "rollback_refused");
    expect((await call("GET", `${path}/decisions`)).body).toEqual({ items: [] });
    for (const [method, below] of [
      ["GET", "decisions"],
      ["POST", "rollback"],
      ["POST", "rescue"],
    ] as const) {
      const body = below === "rescue" ? { reason: "try" } : undefined;
      const options = body ? { body } : {};
      const answer = await call(method, `/v1/actors/nobody/${below}`, options);
      expectProblem(answer, 404, "actor_not_found");
    }
  });
});

describe("a rescue", () => {
  it("sets by hand what is given, and leaves the rest", async () => {
    const loans = await deployLoan();
    const path = await applicant(loans.v1, "alice", PAID);
    const { body: before } = await call("GET", path);
    const lineage = { id: loans.v2, definition: undefined, parentId: loans.v1 };
    const { definition } = secondVersion(loans) as { definition: object };
    await call("PUT", "/v1/definitions", { body: { ...lineage, definition } });
    const body = {
      definitionId: loans.v2,
      stateValue: "income_check",
      context: { ...before.context, feePaid: 5 },
      reason: "the bank called",
    };
    const rescued = await call("POST", `${path}/rescue`, { body, key: "rescue" });
    expect(rescued).toMatchObject({
      status: 200,
      body: {
        definitionId: loans.v2,
        stateValue: "income_check",
        context: { ...before.context, feePaid: 5 },
        timers: [],
        historyFingerprint: before.historyFingerprint,
      },
    });
    const again = await call("POST", `${path}/rescue`, { body, key: "rescue" });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await send(path, "INCOME_OK")).body).toMatchObject({ stateValue: "approved" });
    const over = await call("POST", `${path}/rescue`, { body: { reason: "once more" } });
    expectProblem(over, 409, "actor_not_active");
  });

  it("that does not fit is refused, with where", async () => {
    const { v1 } = await deployLoan();
    const path = await applicant(v1, "alice", PAID);
    for (const [more, status, code] of [
      [{ stateValue: "nowhere" }, 422, "snapshot_invalid"],
      [{ stateValue: { awaiting_fee: "deep" } }, 422, "snapshot_invalid"],
      [{ definitionId: "no-such" }, 404, "definition_not_found"],
    ] as const) {
      const body = { ...more, reason: "by hand" };
      const answer = await call("POST", `${path}/rescue`, { body });
      expectProblem(answer, status, code);
      if (code === "snapshot_invalid") expect(answer.body.errors.length).toBeGreaterThan(0);
    }
    const other = await deployLoan();
    const body = { definitionId: other.v1, reason: "by hand" };
    expectProblem(await call("POST", `${path}/rescue`, { body }), 422, "family_mismatch");
    for (const body of [
      {},
      { reason: "" },
      { reason: "x", stateValue: 5 },
      { reason: "x", stateValue: ["a"] },
      { reason: "x", context: [] },
      { reason: "x", definitionId: "" },
    ]) {
      expectProblem(await call("POST", `${path}/rescue`, { body }), 400, "invalid_request");
    }
    const unknown = { reason: "x", state: "review" };
    expectProblem(await call("POST", `${path}/rescue`, { body: unknown }), 400, "unknown_field");
    expect((await call("GET", path)).body.seq).toBe(3);
  });
});
