import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client } from "../../src/sdk/index.ts";
import { ROOT } from "../house/sources.ts";
import { pasteSession } from "./paste.ts";

let folder: string;
let server: RunningServer;
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-examples-"));
  server = await startServer({ persistTo: join(folder, "data") });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
});

afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

function machine(example: string): object {
  const text = readFileSync(join(ROOT, "examples", example, `${example}.json`), "utf8");
  return JSON.parse(text) as object;
}

const paste = (example: string) => pasteSession(example, server.url);

describe("an example's machine", () => {
  const names = readdirSync(join(ROOT, "examples")).filter((name) =>
    existsSync(join(ROOT, "examples", name, `${name}.json`)),
  );

  it.each(names)("%s is valid and raises no warning", async (name) => {
    const { valid, errors, warnings } = await client.validate(machine(name));
    expect({ valid, errors, warnings }).toEqual({ valid: true, errors: [], warnings: [] });
  });
});

describe("the session in the README", () => {
  it("of the loan does what the README says", async () => {
    const answers = await paste("loan");
    expect(answers.map(({ code, detail }) => [code, detail])).toEqual(
      answers.map(() => [undefined, undefined]),
    );
    const [, , , , , tooLittle, paid, waived, paidAgain] = answers;
    expect(tooLittle).toMatchObject({ handled: false, reason: "guard_false" });
    expect(paid?.["stateValue"]).toBe("awaiting_documents");
    expect(waived?.["stateValue"]).toBe("awaiting_documents");
    expect(paid?.["historyFingerprint"]).not.toBe(waived?.["historyFingerprint"]);
    expect(paidAgain).toEqual(paid);
    expect(await client.getActor("loan-ann")).toMatchObject({
      stateValue: "approved",
      done: true,
      output: { applicant: "Ann", amount: 12_000, decidedBy: "Dora", reason: null },
    });
  });

  it("of the approval does what the README says", async () => {
    const answers = await paste("approval");
    expect(answers.map(({ code, detail }) => [code, detail])).toEqual(
      answers.map(() => [undefined, undefined]),
    );
    expect(answers[5]).toMatchObject({ stateValue: "cfo", context: { remindersSent: 0 } });
    expect(answers[6]).toMatchObject({ stateValue: "cfo", context: { remindersSent: 1 } });
    expect(answers[7]).toMatchObject({
      items: [{ emitted: [{ type: "approval.reminder", to: "cfo", number: 1 }] }],
    });
    expect(await client.getActor("invoice-7")).toMatchObject({
      stateValue: "booked",
      done: true,
      refs: { ledger_entry: "2026-0815" },
    });
  });
});

describe("the approval", () => {
  const submit = { type: "SUBMIT", payload: { title: "Desk", amount: 900, by: "Ann" } };
  const check = { type: "CHECK", payload: { by: "Bob" } };
  const approve = { type: "APPROVE", payload: { by: "Clara" } };
  const day = { advanceMs: 86_400_000 };

  it("goes its ways", async () => {
    const large = { ...submit, payload: { ...submit.payload, amount: 1001 } };
    const report = await client.scenario({
      definition: machine("approval"),
      scenarios: [
        {
          name: "up to 1,000 without the CFO",
          events: [submit, check, approve, { type: "BOOK", payload: { entry: "7" } }],
          expectedStates: ["first_check", "manager", "booking", "booked"],
          expectDone: true,
        },
        {
          name: "above 1,000 with the CFO, who may say no",
          events: [large, check, approve, { type: "REJECT", payload: { comment: "no" } }],
          expectedStates: ["first_check", "manager", "cfo", "rejected"],
          expectDone: true,
        },
        {
          name: "sent back and submitted again",
          events: [submit, { type: "SEND_BACK", payload: { comment: "which desk?" } }, submit],
          expectedStates: ["first_check", "draft", "first_check"],
        },
        {
          name: "given up by the CFO after two weeks, not by the reminder or the escalation",
          events: [large, check, approve, day, day, day, { advanceMs: 11 * day.advanceMs }],
          expectedStates: ["first_check", "manager", "cfo", "cfo", "cfo", "cfo", "rejected"],
          expectDone: true,
        },
        {
          name: "an amount of nothing is not submitted",
          events: [{ ...submit, payload: { ...submit.payload, amount: 0 } }],
          expectedStates: ["draft"],
          expectDone: false,
        },
      ],
    });
    expect(report.results.filter(({ passed }) => !passed)).toEqual([]);
    expect(report).toMatchObject({ passed: 5, failed: 0 });
  });
});

const info = (amount: number) => ({ type: "SUBMIT_INFO", payload: { applicant: "Ann", amount } });

describe("the loan", () => {
  const documents = [
    { type: "PAY_FEE", payload: { amount: 50 } },
    { type: "ADD_DOCUMENT", payload: { name: "a.pdf" } },
    { type: "ADD_DOCUMENT", payload: { name: "b.pdf" } },
    "SUBMIT_DOCUMENTS",
  ];
  const waiting = ["awaiting_fee", "awaiting_documents", "awaiting_documents"];
  const reviewed = [...waiting, "awaiting_documents", "in_review"];
  const approve = { type: "APPROVE", payload: { by: "Dora" } };

  it("goes its ways", async () => {
    const report = await client.scenario({
      definition: machine("loan"),
      scenarios: [
        {
          name: "above 50,000 two people decide",
          events: [info(50_001), ...documents, approve, approve],
          expectedStates: [...reviewed, "second_review", "approved"],
          expectDone: true,
        },
        {
          name: "one document is not enough",
          events: [info(500), { type: "WAIVE_FEE", payload: { by: "C" } }, "SUBMIT_DOCUMENTS"],
          expectedStates: ["awaiting_fee", "awaiting_documents", "awaiting_documents"],
        },
        {
          name: "an applicant who does not pay is forgotten after two weeks",
          events: [info(500), { advanceMs: 1_209_599_999 }, { advanceMs: 1 }],
          expectedStates: ["awaiting_fee", "awaiting_fee", "expired"],
          expectDone: true,
        },
        {
          name: "a review that nobody does goes to the second, and then ends",
          events: [info(500), ...documents, { advanceMs: 864_000_000 }, { advanceMs: 864_000_000 }],
          expectedStates: [...reviewed, "second_review", "rejected"],
          expectDone: true,
        },
      ],
    });
    expect(report.results.filter(({ passed }) => !passed)).toEqual([]);
    expect(report).toMatchObject({ passed: 4, failed: 0 });
  });
});
