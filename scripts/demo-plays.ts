// What the demo plays, and the facts it checks.
import { readFile } from "node:fs/promises";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Client, LogRecord } from "../src/sdk/index.ts";

const DAY_MS = 86_400_000;
let facts = 0;

/** How many facts were checked so far. */
export const factsChecked = () => facts;

/** Checks, then says so: nothing is printed that did not hold. */
export function fact(text: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(
      `This does not hold: ${text}\n${inspect(actual)}\nis not\n${inspect(expected)}`,
    );
  }
  facts += 1;
  console.log(`  ✓ ${text}`);
}

export function chapter(title: string): void {
  console.log(`\n${title}`);
}

export async function machine(name: string): Promise<object> {
  const file = new URL(`../examples/${name}/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as object;
}

async function log(client: Client, id: string, type: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of client.events(id)) if (record.type === type) records.push(record);
  return records;
}

export async function deployBoth(client: Client): Promise<void> {
  chapter("Two machines, deployed as JSON");
  for (const name of ["approval", "loan"]) {
    const id = `${name}-v1`;
    const { family, idempotent } = await client.deploy(id, await machine(name));
    fact(`${id} is deployed`, { family, idempotent }, { family: name, idempotent: false });
    const again = await client.deploy(id, await machine(name));
    fact(`${id} deployed once more changes nothing`, again.idempotent, true);
  }
}

/** Leaves `invoice-7` waiting at the CFO. */
export async function playToCfo(client: Client): Promise<void> {
  chapter("An approval in five steps: submit, first check, manager, CFO, book");
  const { stateValue } = await client.spawn("approval-v1", { id: "invoice-7" });
  fact("invoice-7 begins as a draft", stateValue, "draft");
  const invoice = { title: "New roof", amount: 48_000, by: "Ann" };
  const submitted = await client.sendEvent("invoice-7", "SUBMIT", invoice);
  fact("Ann submits 48,000 for a new roof", submitted.stateValue, "first_check");
  const checked = await client.sendEvent("invoice-7", "CHECK", { by: "Bob" });
  fact("Bob checks it", checked.stateValue, "manager");
  const approved = await client.sendEvent(
    "invoice-7",
    "APPROVE",
    { by: "Clara" },
    { key: "clara" },
  );
  fact("Clara, the manager, approves; above 1,000 it goes to the CFO", approved.stateValue, "cfo");
  const ignored = await client.sendEvent("invoice-7", "BOOK", { entry: "too early" });
  const { handled, reason } = ignored;
  fact(
    "booking it now is not handled, and the answer says why",
    { handled, reason },
    { handled: false, reason: "no_transition" },
  );
  const { timers, updatedAt } = await client.getActor("invoice-7");
  const entered = (await log(client, "invoice-7", "APPROVE"))[0]?.at ?? updatedAt;
  const hours = timers.map(({ dueAt }) => (Date.parse(dueAt) - Date.parse(entered)) / 3_600_000);
  fact(
    "it will be reminded after 24 h, escalated after 72 h, given up after 336 h",
    hours,
    [24, 72, 336],
  );
}

export async function repeatOnce(client: Client): Promise<void> {
  chapter("A trigger acts once");
  const again = await client.sendEvent("invoice-7", "APPROVE", { by: "Clara" }, { key: "clara" });
  fact(
    "Clara's approval from before the crash, sent again with its key, is a replay",
    again.replayed,
    true,
  );
  const approvals = await log(client, "invoice-7", "APPROVE");
  fact("the CFO's step was not taken by it: one approval is in the log", approvals.length, 1);
  await client.spawn("approval-v1", { id: "invoice-8" });
  const invoice = { title: "Pencils", amount: 40, by: "Ann" };
  const first = await client.sendEvent("invoice-8", "SUBMIT", invoice, { key: "mail-4711" });
  const second = await client.sendEvent("invoice-8", "SUBMIT", invoice, { key: "mail-4711" });
  fact("one event sent twice with one key is answered twice the same", second, {
    ...first,
    replayed: true,
  });
  const { seq, context } = await client.getState("invoice-8");
  fact("and acted once", { seq, trail: context["trail"] }, { seq: 2, trail: ["submitted by Ann"] });
}

export async function remindAndBook(client: Client): Promise<void> {
  chapter("A day passes (this actor's clock is moved)");
  const before = await client.getActor("invoice-7");
  const reminded = await client.advanceClock("invoice-7", DAY_MS);
  fact("24 h later one reminder was sent", reminded.context["remindersSent"], 1);
  const timers: LogRecord[] = [];
  for await (const record of client.events("invoice-7", { kind: "timer" })) timers.push(record);
  fact(
    "the log has it, with the event it emitted",
    timers.map(({ emitted }) => emitted),
    [[{ type: "approval.reminder", to: "cfo", title: "New roof", number: 1 }]],
  );
  fact("invoice-7 still waits at the CFO", reminded.stateValue, "cfo");
  fact("its other two due times are unmoved", reminded.timers, before.timers.slice(1));
  const approved = await client.sendEvent("invoice-7", "APPROVE", { by: "Dora" });
  fact("Dora, the CFO, approves", approved.stateValue, "booking");
  const booked = await client.sendEvent("invoice-7", "BOOK", { entry: "2026-0815" });
  fact("it is booked, and done", [booked.stateValue, booked.done], ["booked", true]);
  const { refs, timers: left, output } = await client.getActor("invoice-7");
  fact(
    "no timer is left, and the ledger entry is its reference",
    [left, refs],
    [[], { ledger_entry: "2026-0815" }],
  );
  const trail = ["submitted by Ann", "checked by Bob", "approved by manager Clara"];
  fact("its output tells who did what", (output as { trail: string[] }).trail, [
    ...trail,
    "approved by CFO Dora",
    "booked as 2026-0815",
  ]);
}

export async function playLoans(client: Client): Promise<void> {
  chapter("Two loans in one state, with two histories");
  for (const [id, applicant] of [
    ["loan-ann", "Ann"],
    ["loan-bob", "Bob"],
  ] as const) {
    await client.spawn("loan-v1", { id });
    await client.sendEvent(id, "SUBMIT_INFO", { applicant, amount: 12_000 });
  }
  const short = await client.sendEvent("loan-ann", "PAY_FEE", { amount: 20 });
  fact(
    "Ann pays 20 of 50: the guard says no",
    [short.handled, short.reason],
    [false, "guard_false"],
  );
  await client.sendEvent("loan-ann", "PAY_FEE", { amount: 50 });
  await client.sendEvent("loan-bob", "WAIVE_FEE", { by: "Clara" });
  const [ann, bob] = [await client.getActor("loan-ann"), await client.getActor("loan-bob")];
  fact(
    "Ann paid, Bob's fee was waived: both await documents",
    [ann.stateValue, bob.stateValue],
    ["awaiting_documents", "awaiting_documents"],
  );
  fact(
    `their fingerprints differ: ${ann.historyFingerprint} and ${bob.historyFingerprint}`,
    ann.historyFingerprint === bob.historyFingerprint,
    false,
  );
}

export async function replayAll(client: Client): Promise<void> {
  chapter("Their logs, played again");
  for (const id of ["invoice-7", "invoice-8", "loan-ann", "loan-bob"]) {
    fact(`${id}: the log leads to the same actor`, await client.replay(id), { identical: true });
  }
}
