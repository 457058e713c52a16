import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { FAR_MS, example } from "./machines.ts";
import type { Scribe } from "./scribe.ts";

/** Regions, histories, timers of three kinds, references, what is drawn by lot, and guards that fail. */
const DESK = {
  id: "desk",
  type: "parallel",
  context: { n: { "@expr": "input.n" }, seen: [] },
  delays: { LONG: { "@expr": `context.n * ${FAR_MS / 2}` } },
  states: {
    form: {
      initial: "one",
      tags: ["open"],
      on: { AWAY: ".away", FORBIDDEN: {} },
      states: {
        one: { on: { NEXT: "two" } },
        two: {
          initial: "x",
          states: { x: { on: { NEXT: "y" } }, y: { after: { LONG: "#late" } } },
        },
        away: { on: { BACK: "last" } },
        last: { type: "history", history: "deep" },
        late: { id: "late" },
      },
    },
    notes: {
      initial: "open",
      states: {
        open: {
          on: {
            NOTE: {
              actions: [
                {
                  type: "@xstate.assign",
                  context: { seen: { "@expr": "context.seen + [event.text]" } },
                },
                {
                  type: "@xstate.raise",
                  event: { type: "NOTED", dice: { "@expr": "random()" } },
                  delay: FAR_MS / 4,
                  id: "noted",
                },
                { type: "@perdure.setRef", name: "note", value: { "@expr": "uuid()" } },
                { type: "@xstate.emit", event: { type: "noted", text: { "@expr": "event.text" } } },
                { type: "@xstate.log", args: [{ "@expr": "self.seq" }] },
              ],
            },
            NOTED: [{ guard: { "@expr": "size(context.seen) > 5" }, target: "full" }],
            STUMBLE: "stumbling",
          },
        },
        stumbling: { after: { 20: { guard: { "@expr": "context.missing" }, target: "full" } } },
        full: {},
      },
    },
  },
};

const LAMP = {
  id: "lamp",
  initial: "on",
  states: {
    on: { on: { LEAVE_ON: "held" }, after: { 3_000: "off" } },
    held: { on: { OFF: "off" } },
    off: { on: { ON: "on" } },
  },
};

const TALLY = {
  id: "tally",
  initial: "open",
  context: { n: 0 },
  states: {
    open: {
      on: {
        ADD: {
          actions: {
            type: "@xstate.assign",
            context: { n: { "@expr": "context.n + event.by" } },
          },
        },
      },
    },
  },
};

const INFO = { applicant: "Ann", amount: 12_000 };
const BY = { by: "clerk" };

/** What the first step could do: actors with a log, timers and keys. */
export async function playActors(scribe: Scribe, checkout: string): Promise<void> {
  await scribe.deploy("loan-v1", await example(checkout, "loan", "loan"));
  await scribe.deploy("approval-v1", await example(checkout, "approval", "approval"));
  await scribe.deploy("desk-v1", DESK);
  await scribe.deploy("lamp-v1", LAMP);
  await scribe.deploy("tally-v1", TALLY);
  await playLoans(scribe);
  await playApprovals(scribe);
  await playDesks(scribe);
  await playLamps(scribe);
  await playTally(scribe);
  await scribe.spawn("tally-v1", "gone");
  await scribe.erase("gone");
  scribe.reads("/v1/definitions/loan-v1", "/v1/keys");
  await scribe.ask("POST", "/v1/keys", { label: "the office", scopes: ["read"] });
}

async function playLoans(scribe: Scribe): Promise<void> {
  for (const id of ["loan-new", "loan-paid", "loan-waived", "loan-review", "loan-approved"]) {
    await scribe.spawn("loan-v1", id);
  }
  for (const id of ["loan-paid", "loan-waived", "loan-review", "loan-approved"]) {
    await scribe.send(id, "SUBMIT_INFO", INFO);
    if (id === "loan-waived") await scribe.send(id, "WAIVE_FEE", BY);
    else await scribe.send(id, "PAY_FEE", { amount: 50 });
    await scribe.send(id, "ADD_DOCUMENT", { name: "passport.pdf" });
    await scribe.send(id, "SUBMIT_DOCUMENTS");
  }
  for (const id of ["loan-review", "loan-approved"]) {
    await scribe.send(id, "ADD_DOCUMENT", { name: "payslip.pdf" });
    await scribe.send(id, "SUBMIT_DOCUMENTS");
  }
  await scribe.send("loan-approved", "APPROVE", BY);
  await scribe.spawn("loan-v1", "loan-adopted", {
    snapshot: { value: "in_review", context: { applicant: "Eve", amount: 900 } },
  });
  await scribe.spawn("loan-v1", "loan-ended");
  await scribe.ask("POST", "/v1/actors/loan-ended/terminate", { reason: "withdrawn" });
  scribe.rests("loan-new", "loan-paid", "loan-waived", "loan-review", "loan-approved");
  scribe.rests("loan-adopted", "loan-ended");
  scribe.reads("/v1/actors/loan-review?at=3");

  event(scribe, "loan-waived", "ADD_DOCUMENT", { name: "payslip.pdf" }, "awaiting_documents");
  event(scribe, "loan-waived", "SUBMIT_DOCUMENTS", undefined, "in_review");
  event(scribe, "loan-waived", "APPROVE", BY, "approved");
  event(scribe, "loan-adopted", "REJECT", { by: "clerk", reason: "no" }, "rejected");
  scribe.next("POST", "/v1/actors/loan-approved/events", 409, { type: "APPROVE" });
  scribe.next("DELETE", "/v1/actors/loan-new", 204);
}

async function playApprovals(scribe: Scribe): Promise<void> {
  for (const id of ["approval-draft", "approval-cfo", "approval-booked"]) {
    await scribe.spawn("approval-v1", id);
  }
  for (const id of ["approval-cfo", "approval-booked"]) {
    const amount = id === "approval-cfo" ? 48_000 : 300;
    await scribe.send(id, "SUBMIT", { title: "New roof", amount, by: "Ann" });
    await scribe.send(id, "CHECK", { by: "Bob" });
    await scribe.send(id, "APPROVE", { by: "Cleo" });
  }
  await scribe.send("approval-booked", "BOOK", { entry: "e-1" });
  scribe.rests("approval-draft", "approval-cfo", "approval-booked");
  // The reminder of the CFO lies far ahead; the time of development comes there.
  scribe.next("POST", "/v1/actors/approval-cfo/clock/advance", 200, { ms: FAR_MS + 86_400_000 });
  scribe.nextRead("/v1/actors/approval-cfo", {
    stateValue: "cfo",
    context: { remindersSent: 1, escalatedTo: null },
  });
  event(scribe, "approval-cfo", "APPROVE", { by: "Dora" }, "booking");
}

async function playDesks(scribe: Scribe): Promise<void> {
  for (const id of ["desk-busy", "desk-away", "desk-parked"]) {
    await scribe.spawn("desk-v1", id, { input: { n: 2 }, refs: { order: id }, by: "the office" });
  }
  await scribe.send("desk-busy", "NEXT");
  await scribe.send("desk-busy", "NOTE", { text: "first" });
  await scribe.send("desk-busy", "FORBIDDEN");
  await scribe.send("desk-busy", "UNKNOWN");
  await scribe.send("desk-busy", "NEXT");
  const later = { type: "NOTE", payload: { text: "later" }, delayMs: FAR_MS };
  await scribe.ask("POST", "/v1/actors/desk-busy/schedule", later);
  const { timerId } = await scribe.ask("POST", "/v1/actors/desk-busy/schedule", later);
  await scribe.ask("DELETE", `/v1/actors/desk-busy/schedule/${String(timerId)}`);
  await scribe.ask("PATCH", "/v1/actors/desk-busy", { refs: { customer: "c-1" } });
  await scribe.ask("POST", "/v1/actors/desk-busy/clock/advance", { ms: 60_000 });
  await scribe.ask("POST", "/v1/actors/desk-busy/events/batch", {
    events: [{ type: "NOTE", payload: { text: "second" } }, { type: "UNKNOWN" }],
  });
  await scribe.send("desk-away", "NEXT");
  await scribe.send("desk-away", "NEXT");
  await scribe.send("desk-away", "AWAY");
  await scribe.ask("POST", "/v1/actors/desk-away/pause", { reason: "audit" });
  await scribe.send("desk-parked", "STUMBLE");
  await scribe.until("/v1/actors/desk-parked", { needsAttention: [{}] });
  scribe.rests("desk-busy", "desk-away", "desk-parked");

  scribe.next("POST", "/v1/actors/desk-away/events", 409, { type: "BACK" });
  scribe.next("POST", "/v1/actors/desk-away/resume", 200, {}, { status: "active" });
  event(scribe, "desk-away", "BACK", undefined, { form: "one", notes: "open" });
  scribe.next("POST", "/v1/actors/desk-busy/clock/advance", 200, { ms: FAR_MS });
  scribe.nextRead("/v1/actors/desk-busy", { stateValue: { form: "late" } });
  scribe.next("POST", "/v1/actors/desk-parked/retry", 200, {});
}

async function playLamps(scribe: Scribe): Promise<void> {
  for (const id of ["lamp-held", "lamp-paused", "lamp-asked"]) await scribe.spawn("lamp-v1", id);
  await scribe.send("lamp-held", "LEAVE_ON");
  await scribe.send("lamp-asked", "LEAVE_ON");
  await scribe.ask("POST", "/v1/actors/lamp-paused/pause", {});
  scribe.rests("lamp-held");
  scribe.becomes("/v1/actors/lamp-paused", { status: "paused", stateValue: "on" });
  scribe.next("POST", "/v1/actors/lamp-paused/resume", 200, {});
  scribe.nextRead("/v1/actors/lamp-paused", { stateValue: "off" });
  scribe.atLast(async () => {
    await scribe.spawn("lamp-v1", "lamp-due");
    await scribe.ask("POST", "/v1/actors/lamp-asked/schedule", { type: "OFF", delayMs: 3_000 });
    scribe.becomes("/v1/actors/lamp-due", { stateValue: "off", seq: 2, timers: [] });
    scribe.becomes("/v1/actors/lamp-asked", { stateValue: "off" });
  });
}

/** Long enough for keys in blocks and a checkpoint. */
async function playTally(scribe: Scribe): Promise<void> {
  await scribe.spawn("tally-v1", "tally");
  for (let batch = 0; batch < 6; batch += 1) {
    const events = Array.from({ length: 50 }, (_, by) => ({ type: "ADD", payload: { by } }));
    await scribe.ask("POST", "/v1/actors/tally/events/batch", { events });
  }
  scribe.reads("/v1/actors/tally", "/v1/actors/tally?at=270");
  scribe.next(
    "POST",
    "/v1/actors/tally/events",
    200,
    { type: "ADD", payload: { by: 1 } },
    {
      seq: 302,
    },
  );
}

function event(
  scribe: Scribe,
  id: string,
  type: string,
  payload: JsonObject | undefined,
  stateValue: JsonValue,
): void {
  const body = { type, ...(payload && { payload }) };
  scribe.next("POST", `/v1/actors/${id}/events`, 200, body, { handled: true, stateValue });
}
