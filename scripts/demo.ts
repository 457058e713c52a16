// `npm run demo`: plays the examples on a server of its own and checks what it says.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../src/sdk/index.ts";
import type { Client, LogRecord } from "../src/sdk/index.ts";
import { startServer } from "./server.ts";
import type { RunningServer } from "./server.ts";

const DAY_MS = 86_400_000;
let facts = 0;

/** Checks, then says so: nothing is printed that did not hold. */
function fact(text: string, actual: unknown, expected: unknown): void {
  assert.deepEqual(actual, expected, `This does not hold: ${text}`);
  facts += 1;
  console.log(`  ✓ ${text}`);
}

function chapter(title: string): void {
  console.log(`\n${title}`);
}

async function machine(name: string): Promise<object> {
  const file = new URL(`../examples/${name}/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as object;
}

async function log(client: Client, id: string, type: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of client.events(id)) if (record.type === type) records.push(record);
  return records;
}

function connect(server: RunningServer): Client {
  return createClient({ baseUrl: server.url, apiKey: "dev" });
}

async function deployBoth(client: Client): Promise<void> {
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
async function playToCfo(client: Client): Promise<void> {
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

async function crash(server: RunningServer, data: string): Promise<RunningServer> {
  chapter("The server dies and comes back");
  const before = await connect(server).getActor("invoice-7");
  await server.kill("SIGKILL");
  const { signal } = await server.exited;
  fact("the server was killed with SIGKILL while invoice-7 waited", signal, "SIGKILL");
  const restarted = await startServer({ persistTo: data });
  console.log(`  … started again on the same data at ${restarted.url}`);
  const after = await connect(restarted).getActor("invoice-7");
  fact(`nothing was lost: it has the same ${after.seq} records`, after.seq, before.seq);
  fact("it stands in the same state, at the CFO", after.stateValue, before.stateValue);
  fact("it has the same context", after.context, before.context);
  fact("its three due times are the same", after.timers, before.timers);
  fact("so is everything else about it", after, before);
  return restarted;
}

async function repeatOnce(client: Client): Promise<void> {
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

async function remindAndBook(client: Client): Promise<void> {
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

async function playLoans(client: Client): Promise<void> {
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

async function replayAll(client: Client): Promise<void> {
  chapter("Their logs, played again");
  for (const id of ["invoice-7", "invoice-8", "loan-ann", "loan-bob"]) {
    fact(`${id}: the log leads to the same actor`, await client.replay(id), { identical: true });
  }
}

const data = await mkdtemp(join(tmpdir(), "perdure-demo-"));
let server: RunningServer | null = null;
try {
  server = await startServer({ persistTo: data });
  console.log(`Perdure at ${server.url}, data in ${data}`);
  await deployBoth(connect(server));
  await playToCfo(connect(server));
  server = await crash(server, data);
  const client = connect(server);
  await repeatOnce(client);
  await remindAndBook(client);
  await playLoans(client);
  await replayAll(client);
  console.log(`\nAll ${facts} facts hold.`);
} catch (error) {
  console.error(error instanceof Error ? `\n${error.message}` : error);
  process.exitCode = 1;
} finally {
  await server?.stop();
  await rm(data, { recursive: true, force: true });
}
