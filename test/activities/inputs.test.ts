import { describe, expect, test } from "vitest";
import { ACTOR_INPUT, parseActorInput } from "../../src/activities/actor-input.ts";
import { APPROVAL_INPUT, parseApprovalInput } from "../../src/activities/approval-input.ts";
import { HTTP_INPUT, parseHttpInput } from "../../src/activities/http-input.ts";
import { DEFAULT_POLICY, parseCodeInput } from "../../src/activities/policy-input.ts";
import { faultsOf } from "../../src/activities/shape.ts";
import { TASK_INPUT, parseTaskInput } from "../../src/activities/task-input.ts";
import { isJsonObject } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";

const url = "https://example.com/charge";
const approval = { assignee: "ann", title: "Release?" };

const pointersOf = (faults: readonly { pointer: string }[]): string[] =>
  faults.map(({ pointer }) => pointer);

describe("an input of http", () => {
  test("has a method, no headers and the default policy where it says nothing", () => {
    expect(parseHttpInput({ url })).toEqual({
      ok: true,
      value: { method: "GET", url, headers: {}, body: undefined, policy: DEFAULT_POLICY },
    });
  });

  test("changes what it says of the policy, and nothing else", () => {
    const retry = { maxAttempts: 2, nonRetryable: ["oops", 503] };
    const parsed = parseHttpInput({ url, retry, timeoutMs: 1_000, deadlineMs: 9 });
    expect(parsed).toMatchObject({
      ok: true,
      value: { policy: { ...DEFAULT_POLICY, ...retry, timeoutMs: 1_000, deadlineMs: 9 } },
    });
  });

  test("keeps a body as it is, null too", () => {
    for (const body of [null, "text", { a: [1] }]) {
      expect(parseHttpInput({ url, method: "POST", body })).toMatchObject({ value: { body } });
    }
  });

  test.each<[JsonObject, string[]]>([
    [{}, [""]],
    [{ url: "/charge" }, ["/url"]],
    [{ url: "ftp://example.com" }, ["/url"]],
    [{ url: `https://example.com/${"x".repeat(LIMITS.urlChars)}` }, ["/url"]],
    [{ url, method: "get" }, ["/method"]],
    [{ url, methd: "GET" }, ["/methd"]],
    [{ url, body: 1 }, [""]],
    [{ url, method: "HEAD", body: null }, [""]],
    [{ url, headers: [] }, ["/headers"]],
    [{ url, headers: { "x y": "1" } }, ["/headers/x y"]],
    [{ url, headers: { Host: "a" } }, ["/headers/Host"]],
    [{ url, headers: { "IDEMPOTENCY-KEY": "a" } }, ["/headers/IDEMPOTENCY-KEY"]],
    [{ url, headers: { a: "1\r\nb: 2" } }, ["/headers/a"]],
    [{ url, headers: { a: 1 } }, ["/headers/a"]],
    [{ url, headers: { a: "€" } }, ["/headers/a"]],
    [{ url, timeoutMs: 0 }, ["/timeoutMs"]],
    [{ url, timeoutMs: LIMITS.activityAttemptMs + 1 }, ["/timeoutMs"]],
    [{ url, deadlineMs: -1 }, ["/deadlineMs"]],
    [{ url, deadlineMs: LIMITS.delayMs + 1 }, ["/deadlineMs"]],
    [{ url, retry: 5 }, ["/retry"]],
    [{ url, retry: { maxAttempts: 0 } }, ["/retry/maxAttempts"]],
    [{ url, retry: { maxAttempts: LIMITS.activityAttempts + 1 } }, ["/retry/maxAttempts"]],
    [{ url, retry: { factor: 0.5 } }, ["/retry/factor"]],
    [{ url, retry: { factor: LIMITS.retryFactor + 1 } }, ["/retry/factor"]],
    [{ url, retry: { initialMs: 1.5, maxMs: "1" } }, ["/retry/initialMs", "/retry/maxMs"]],
    [{ url, retry: { jitter: 1 } }, ["/retry/jitter"]],
    [
      { url, retry: { nonRetryable: ["a", 99, null] } },
      ["/retry/nonRetryable/1", "/retry/nonRetryable/2"],
    ],
    [{ url, retry: { times: 3 } }, ["/retry/times"]],
  ])("%j is refused", (input, pointers) => {
    expect(pointersOf(faultsOf(HTTP_INPUT, input))).toEqual(pointers);
    expect(parseHttpInput(input)).toMatchObject({ ok: false, pointer: pointers[0] });
  });

  test.each<JsonValue>([null, "x", 1, [], [{ url }]])("%j is no input", (input) => {
    expect(parseHttpInput(input)).toMatchObject({ ok: false, pointer: "" });
  });

  test("at the limits is accepted", () => {
    const retry = {
      maxAttempts: LIMITS.activityAttempts,
      factor: LIMITS.retryFactor,
      maxMs: LIMITS.delayMs,
      nonRetryable: Array.from({ length: LIMITS.activityListEntries }, () => "a"),
    };
    const timeoutMs = LIMITS.activityAttemptMs;
    const headers = Object.fromEntries(
      Array.from({ length: LIMITS.httpHeaders }, (_, n) => [`x-${n}`, "é"]),
    );
    const input = { url, headers, retry, timeoutMs, deadlineMs: LIMITS.delayMs };
    expect(faultsOf(HTTP_INPUT, input)).toEqual([]);
    const more = { ...input, headers: { ...headers, one: "more" } };
    expect(pointersOf(faultsOf(HTTP_INPUT, more))).toEqual(["/headers"]);
    const longer = { ...input, retry: { nonRetryable: [...retry.nonRetryable, "a"] } };
    expect(pointersOf(faultsOf(HTTP_INPUT, longer))).toEqual(["/retry/nonRetryable"]);
  });
});

describe("an input of a source in code", () => {
  test("is any JSON, with the policy that an object may name", () => {
    for (const input of [null, 1, "x", [1], { anything: { at: "all" } }]) {
      expect(parseCodeInput(input)).toEqual({ ok: true, value: DEFAULT_POLICY });
    }
    expect(parseCodeInput({ text: "x", retry: { maxAttempts: 1 }, timeoutMs: 5 })).toEqual({
      ok: true,
      value: { ...DEFAULT_POLICY, maxAttempts: 1, timeoutMs: 5 },
    });
  });

  test("whose policy is none is refused", () => {
    expect(parseCodeInput({ retry: [] })).toMatchObject({ ok: false, pointer: "/retry" });
    expect(parseCodeInput({ timeoutMs: 1e9 })).toMatchObject({ ok: false, pointer: "/timeoutMs" });
  });
});

describe("an input of task", () => {
  test("waits a week for a worker, who may be silent for a minute", () => {
    expect(parseTaskInput({ queue: "documents" })).toEqual({
      ok: true,
      value: {
        queue: "documents",
        input: null,
        title: null,
        leaseMs: 60_000,
        unclaimedMs: 604_800_000,
        policy: { ...DEFAULT_POLICY, timeoutMs: 60_000 },
      },
    });
  });

  test.each<[JsonObject, string[]]>([
    [{}, [""]],
    [{ queue: "a/b" }, ["/queue"]],
    [{ queue: "" }, ["/queue"]],
    [{ queue: "x".repeat(LIMITS.queueNameChars + 1) }, ["/queue"]],
    [{ queue: "q", leaseMs: LIMITS.leaseLeastMs - 1 }, ["/leaseMs"]],
    [{ queue: "q", leaseMs: LIMITS.leaseMostMs + 1 }, ["/leaseMs"]],
    [{ queue: "q", unclaimedMs: 0.5 }, ["/unclaimedMs"]],
    [{ queue: "q", title: "" }, ["/title"]],
    [{ queue: "q", timeoutMs: 5 }, ["/timeoutMs"]],
    [{ queue: "q", payload: {} }, ["/payload"]],
  ])("%j is refused", (input, pointers) => {
    expect(pointersOf(faultsOf(TASK_INPUT, input))).toEqual(pointers);
  });

  test("at the limits is accepted", () => {
    const queue = "x".repeat(LIMITS.queueNameChars);
    for (const leaseMs of [LIMITS.leaseLeastMs, LIMITS.leaseMostMs]) {
      expect(parseTaskInput({ queue, leaseMs })).toMatchObject({ ok: true });
    }
  });
});

describe("an input of approval", () => {
  test("reminds once after a day and expires after a week", () => {
    expect(parseApprovalInput(approval)).toEqual({
      ok: true,
      value: {
        ...approval,
        form: null,
        queue: "approvals",
        reminders: [{ afterMs: 86_400_000, repeatMs: null, max: 1 }],
        escalate: [],
        expiresMs: 604_800_000,
      },
    });
  });

  test("reminds as its list says, and never where that is empty", () => {
    const reminders = [{ afterMs: 1 }, { afterMs: 2, repeatMs: 60_000 }];
    expect(parseApprovalInput({ ...approval, reminders: [] })).toMatchObject({
      value: { reminders: [] },
    });
    expect(parseApprovalInput({ ...approval, reminders })).toMatchObject({
      value: {
        reminders: [
          { afterMs: 1, repeatMs: null, max: 1 },
          { afterMs: 2, repeatMs: 60_000, max: LIMITS.remindersPerApproval },
        ],
      },
    });
  });

  test.each<[JsonObject, string[]]>([
    [{}, ["", ""]],
    [{ ...approval, assignee: "" }, ["/assignee"]],
    [{ ...approval, title: "x".repeat(LIMITS.textChars + 1) }, ["/title"]],
    [{ ...approval, reminders: { afterMs: 1 } }, ["/reminders"]],
    [{ ...approval, reminders: [{}] }, ["/reminders/0"]],
    [{ ...approval, reminders: [{ afterMs: 1, max: 2 }] }, ["/reminders/0"]],
    [
      { ...approval, reminders: [{ afterMs: 1, repeatMs: LIMITS.reminderLeastMs - 1 }] },
      ["/reminders/0/repeatMs"],
    ],
    [
      { ...approval, reminders: [{ afterMs: 1, repeatMs: LIMITS.reminderLeastMs, max: 101 }] },
      ["/reminders/0/max"],
    ],
    [{ ...approval, escalate: [{ afterMs: 1 }] }, ["/escalate/0"]],
    [{ ...approval, escalate: [{ afterMs: 1, to: 7 }] }, ["/escalate/0/to"]],
    [{ ...approval, expiresMs: "72h" }, ["/expiresMs"]],
    [{ ...approval, queue: "über" }, ["/queue"]],
    [{ ...approval, retry: {} }, ["/retry"]],
  ])("%j is refused", (input, pointers) => {
    expect(pointersOf(faultsOf(APPROVAL_INPUT, input))).toEqual(pointers);
  });
});

describe("an input of actor", () => {
  test("is one child, which has no input where none is given", () => {
    const definitionId = "loan-v1";
    const one = { id: null, isList: false, context: undefined, refs: {}, detach: false };
    expect(parseActorInput({ definitionId })).toEqual({
      ok: true,
      value: { definitionId, ...one, inputs: [undefined], failures: "stop" },
    });
    expect(parseActorInput({ definitionId, input: null })).toMatchObject({
      value: { inputs: [null], isList: false },
    });
  });

  test("is a child per entry of forEach, none for an empty one", () => {
    const definitionId = "loan";
    for (const forEach of [[], [1, { a: 2 }, null]]) {
      expect(parseActorInput({ definitionId, forEach })).toMatchObject({
        value: { inputs: forEach, isList: true },
      });
    }
  });

  test.each<[JsonObject, string[]]>([
    [{}, [""]],
    [{ definitionId: "a/b" }, ["/definitionId"]],
    [{ definitionId: "a", id: "count" }, ["/id"]],
    [{ definitionId: "a", id: "ref:x" }, ["/id"]],
    [{ definitionId: "a", context: [] }, ["/context"]],
    [{ definitionId: "a", refs: { a: 1 } }, ["/refs/a"]],
    [JSON.parse('{"definitionId": "a", "refs": {"__proto__": "x"}}'), ["/refs/__proto__"]],
    [{ definitionId: "a", detach: "yes" }, ["/detach"]],
    [{ definitionId: "a", failures: "ignore" }, ["/failures"]],
    [{ definitionId: "a", forEach: {} }, ["/forEach"]],
    [{ definitionId: "a", forEach: [], input: 1 }, [""]],
    [{ definitionId: "a", deadlineMs: 1 }, ["/deadlineMs"]],
  ])("%j is refused", (input, pointers) => {
    expect(pointersOf(faultsOf(ACTOR_INPUT, input))).toEqual(pointers);
  });

  test("has as many children as the limit, and not one more", () => {
    const forEach = Array.from({ length: LIMITS.childrenPerActivity }, () => 1);
    expect(parseActorInput({ definitionId: "a", forEach })).toMatchObject({ ok: true });
    expect(parseActorInput({ definitionId: "a", forEach: [...forEach, 1] })).toMatchObject({
      ok: false,
      pointer: "/forEach",
    });
  });
});

test("nothing is said of what is not known yet, and all of what is", () => {
  const isOpen = (value: JsonValue) => isJsonObject(value) && Object.hasOwn(value, "@expr");
  const open = { "@expr": "context.x" };
  expect(faultsOf(HTTP_INPUT, open, isOpen)).toEqual([]);
  const input = {
    url: open,
    headers: { a: open, "b c": open },
    retry: { maxAttempts: open, factor: 0 },
  };
  expect(pointersOf(faultsOf(HTTP_INPUT, input, isOpen))).toEqual([
    "/headers/b c",
    "/retry/factor",
  ]);
});
