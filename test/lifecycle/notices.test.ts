import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { isTold, noticesOf, standingAfter } from "../../src/lifecycle/notices.ts";
import type { Standing } from "../../src/lifecycle/notices.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";

const subject = { uid: "0".repeat(32), id: "a-1", family: "loan" };

function record(more: Partial<LogRecord> = {}): LogRecord {
  return {
    seq: 7,
    at: 1_000,
    kind: "event",
    type: "PAY",
    payload: null,
    key: null,
    request: null,
    by: null,
    principal: null,
    handled: true,
    reason: null,
    stateValue: "open",
    decisions: null,
    emitted: [],
    effects: [],
    result: { status: "active", tags: ["t"], definitionId: "loan-v1" },
    fingerprint: "0".repeat(16),
    epoch: 0,
    timer: null,
    error: null,
    ...more,
  };
}

const move = { ruleId: "r_1", from: "loan-v1", to: "loan-v2", decidedAtSeq: 6 };
const unmappable = { code: "unmappable", message: "state_missing: no such state." } as const;

const open: Standing = {
  stateValue: "open",
  status: "active",
  definitionId: "loan-v1",
  tags: ["t"],
};
const types = (before: Standing | null, one: LogRecord) =>
  noticesOf(subject, before, one).map(({ type }) => type);

describe("notices of activities", () => {
  const told = (more: Partial<LogRecord>) => types(open, record(more));
  const approval = { ref: "3:0", id: "ask", src: "approval" };
  const expired = { code: "expired", message: "Too late.", attempts: 0 };

  it("follow an approval from its request to its end", () => {
    const start = { kind: "start", ref: "7:0", id: "ask", src: "approval" } as const;
    const input = { assignee: "ann", title: "Pay?", form: { secret: 1 } };
    const asked = record({ effects: [{ ...start, input }] });
    expect(noticesOf(subject, open, asked)).toMatchObject([
      {
        type: "approval.requested",
        data: { activity: { id: "ask", key: `${subject.uid}:7:0` }, assignee: "ann" },
      },
    ]);
    expect(noticesOf(subject, open, asked)[0]?.data).not.toHaveProperty("input");
    expect(told({ effects: [{ ...start, input: null }] })).toEqual(["approval.requested"]);
    expect(told({ effects: [{ ...start, src: "task", input }] })).toEqual([]);
    expect(told({ kind: "reminder", type: null, payload: approval })).toEqual([
      "approval.reminder",
    ]);
    expect(told({ kind: "escalated", type: null, payload: approval })).toEqual([
      "approval.escalated",
    ]);
    const delegated = { ...approval, assignee: "bob", from: "ann" };
    const given = { kind: "task_changed", type: null, by: "cleo", payload: delegated } as const;
    expect(noticesOf(subject, open, record(given))).toMatchObject([
      {
        type: "approval.delegated",
        data: { activity: { id: "ask" }, from: "ann", to: "bob", by: "cleo" },
      },
    ]);
    const decided = { ...approval, output: { approved: true, by: "ann", comment: null } };
    const notices = noticesOf(subject, open, record({ kind: "activity_done", payload: decided }));
    expect(notices).toMatchObject([
      { type: "approval.decided", data: { output: { by: "ann" }, activity: { id: "ask" } } },
    ]);
    const failed = { kind: "activity_failed", payload: { ...approval, error: expired } } as const;
    expect(told(failed)).toEqual(["approval.expired"]);
    expect(told({ ...failed, reason: "nobody" })).toEqual(["approval.expired"]);
  });

  it("say nothing of a task that is given to somebody else, of more time, and of records that name nobody", () => {
    const changed = (payload: JsonObject) => told({ kind: "task_changed", type: null, payload });
    expect(changed({ ...approval, src: "task", assignee: "bob", from: null })).toEqual([]);
    expect(changed({ ref: "3:0", id: "ask", expiresAt: 5 })).toEqual([]);
    expect(changed({ ref: "3:0", id: "ask", assignee: "bob" })).toEqual([]);
  });

  it("say nothing of what a service said, which may repeat what it was told", () => {
    const error = { code: "http_status", message: "No.", attempts: 5, status: 500 };
    const payload = { ref: "3:0", id: "ask", src: "http", error: { ...error, body: "Bearer x" } };
    const [notice] = noticesOf(subject, open, record({ kind: "activity_failed", payload }));
    expect(notice?.data["error"]).toEqual(error);
  });

  it("say what failed for good, and nothing of what came too late", () => {
    const error = { code: "http_status", message: "No.", attempts: 5 };
    const payload = { ref: "3:0", id: "ask", src: "http", error };
    const failed = { kind: "activity_failed", payload } as const;
    expect(told(failed)).toEqual(["activity.failed"]);
    expect(told({ ...failed, reason: "nobody" })).toEqual(["activity.failed"]);
    expect(told({ ...failed, reason: "late" })).toEqual([]);
    expect(told({ kind: "activity_done", payload: { ...approval, output: null } })).toEqual([
      "approval.decided",
    ]);
    expect(told({ kind: "activity_done", reason: "late", payload: approval })).toEqual([]);
    const child = { kind: "child_failed", payload: { ref: "3:0", id: "kids", error } } as const;
    expect(told({ ...child, type: "@error:kids" })).toEqual(["activity.failed"]);
    expect(told({ ...child, type: "@done:kids" })).toEqual([]);
    expect(told({ ...child, type: null })).toEqual([]);
  });
});

describe("notices", () => {
  it("tell of births, states, ends and failures, each by its own type", () => {
    expect(types(null, record({ kind: "spawned", seq: 1 }))).toEqual(["actor.spawned"]);
    expect(types(null, record({ kind: "adopted", seq: 1 }))).toEqual(["actor.spawned"]);
    expect(types(open, record())).toEqual([]);
    expect(types(open, record({ stateValue: "paid" }))).toEqual(["actor.state_changed"]);
    const ended = (status: string) => record({ result: { status, tags: [], definitionId: "d" } });
    expect(types(open, ended("done"))).toEqual(["actor.done"]);
    expect(types(open, ended("error"))).toEqual(["actor.error"]);
    expect(types(open, ended("stranded"))).toEqual(["actor.stranded"]);
    expect(types({ ...open, status: "done" }, ended("done"))).toEqual([]);
    expect(types(open, ended("terminated"))).toEqual([]);
    const failed = { code: "expression_failed", message: "no such key" } as const;
    expect(noticesOf(subject, open, record({ kind: "timer", error: failed }))).toMatchObject([
      { type: "actor.error", data: { error: failed, status: "active" } },
    ]);
    expect(types(open, record({ kind: "paused", result: null }))).toEqual([]);
  });

  it("tell of moves, and of those that were refused only where they strand the actor", () => {
    const result = { outcome: "migrated", status: "done", tags: ["u"], definitionId: "loan-v2" };
    const moved = record({ kind: "migrated", type: null, payload: move, stateValue: "x", result });
    const told = noticesOf(subject, open, moved);
    expect(told.map(({ type }) => type)).toEqual([
      "actor.migrated",
      "actor.state_changed",
      "actor.done",
    ]);
    expect(told[0]?.data).toMatchObject({
      ruleId: "r_1",
      from: "loan-v1",
      to: "loan-v2",
      definitionId: "loan-v2",
      tags: ["u"],
    });
    const refused = (outcome: string) =>
      record({ kind: "migrated", payload: move, error: unmappable, result: { outcome } });
    expect(types(open, refused("unmappable"))).toEqual([]);
    expect(standingAfter(open, refused("unmappable"))).toEqual(open);
    expect(noticesOf(subject, open, refused("stranded"))).toMatchObject([
      { type: "actor.stranded", data: { status: "stranded", error: unmappable } },
    ]);
    const stranded = standingAfter(open, refused("stranded"));
    expect(stranded).toEqual({ ...open, status: "stranded" });
    const back = { kind: "rolled_back", result: { status: "active", definitionId: "loan-v1" } };
    expect(types(stranded, record(back as Partial<LogRecord>))).toEqual([]);
  });

  it("take no order of keys for a change of state", () => {
    const before = { ...open, stateValue: { a: "1", b: "2" } };
    expect(types(before, record({ stateValue: { b: "2", a: "1" } }))).toEqual([]);
    expect(types(before, record({ stateValue: { b: "2", a: "3" } }))).toEqual([
      "actor.state_changed",
    ]);
  });

  it("have ids that say whose, when and which", () => {
    const emitted = [{ type: "A" }, { type: "B" }];
    const notices = noticesOf(subject, open, record({ emitted, stateValue: "paid" }));
    expect(notices.map(({ id }) => id)).toEqual([0, 1, 2].map((n) => `${subject.uid}:7:${n}`));
    expect(notices.map(({ data }) => data["emitted"])).toEqual([...emitted, undefined]);
  });

  it("remember across records that say no status", () => {
    const paused = standingAfter(open, record({ kind: "paused", result: null }));
    expect(paused).toEqual({ ...open, status: "paused" });
    expect(standingAfter(paused, record({ kind: "refs_changed", result: null }))).toEqual(paused);
    expect(standingAfter(paused, record({ kind: "resumed", result: null })).status).toBe("active");
  });

  it("leave out, and name, what makes them too long", () => {
    const size = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength;
    const done = (output: string) =>
      noticesOf(
        subject,
        open,
        record({ result: { status: "done", tags: [], definitionId: "d", output } }),
      )[0]!.data;
    const room = LIMITS.noticeBytes - size(done(""));
    expect(done("x".repeat(room))).toHaveProperty("output");
    expect(size(done("x".repeat(room)))).toBe(LIMITS.noticeBytes);
    const over = done("x".repeat(room + 1));
    expect(over).not.toHaveProperty("output");
    expect(over["omitted"]).toEqual(["output"]);
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`region-${n}`, "on"]));
    const [notice] = noticesOf(subject, open, record({ stateValue: wide }));
    expect(size(notice!.data)).toBeLessThanOrEqual(LIMITS.noticeBytes);
    expect(notice!.data["omitted"]).toEqual(expect.arrayContaining(["stateValue"]));
  });

  it("of one record write its state once, however many events a step emits", () => {
    const emitted = Array.from({ length: 1_000 }, () => ({ type: "TICK" }));
    for (const [length, omitted] of [
      [700, undefined],
      [5_000, ["stateValue"]],
    ] as const) {
      let written = 0;
      const regions = Array.from({ length }, (_, n) => [`region-${n}`, "on"] as const);
      const stateValue = Object.defineProperty(Object.fromEntries(regions), "toJSON", {
        value() {
          written += 1;
          return Object.fromEntries(regions);
        },
      });
      const notices = noticesOf(subject, open, record({ stateValue, emitted }));
      expect(notices).toHaveLength(emitted.length + 1);
      expect(notices[0]!.data["emitted"]).toEqual({ type: "TICK" });
      expect(notices[0]!.data["omitted"]).toEqual(omitted);
      expect(written).toBeLessThan(10);
    }
  });

  it("are there exactly where there is something to tell, and never too long", () => {
    const anyRecord = fc.record({
      kind: fc.constantFrom("event", "timer", "migrated", "paused", "reminder" as const),
      stateValue: fc.constantFrom("open", "paid", { a: "b" }),
      emitted: fc.array(
        fc.record({ type: fc.string(), text: fc.string({ maxLength: 30_000, size: "max" }) }),
        { maxLength: 2 },
      ),
      status: fc.constantFrom("active", "done", "error", "stranded", null),
      error: fc.constantFrom(null, unmappable, {
        code: "expression_failed",
        message: "m",
      } as const),
    });
    fc.assert(
      fc.property(anyRecord, fc.constantFrom(open, null), ({ status, ...more }, before) => {
        const result = status === null ? null : { status, tags: [], definitionId: "d" };
        const kind = before === null ? ("spawned" as const) : more.kind;
        const one = record({ ...more, kind, payload: move, result } as Partial<LogRecord>);
        const notices = noticesOf(subject, before, one);
        expect(notices.length > 0).toBe(isTold(before, one));
        expect(new Set(notices.map(({ id }) => id)).size).toBe(notices.length);
        for (const { data } of notices) {
          const bytes = new TextEncoder().encode(JSON.stringify(data)).byteLength;
          expect(bytes).toBeLessThanOrEqual(LIMITS.noticeBytes);
        }
      }),
    );
  });
});
