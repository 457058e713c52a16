import type { JsonObject } from "../../src/base/json.ts";
import { FAR_MS, example, inTheMiddle } from "./machines.ts";
import type { Scribe } from "./scribe.ts";

const GUEST = {
  id: "guest",
  initial: "here",
  states: { here: { after: { [FAR_MS]: "gone" } }, gone: {} },
};
const GUEST_2 = { ...GUEST, states: { ...GUEST.states, here: { on: { LEAVE: "gone" } } } };
const GUESTS = 100;

const TICKET = {
  id: "ticket",
  initial: "open",
  context: { n: 1 },
  states: {
    open: { on: { ASK: "asked", CLOSE: "closed" } },
    asked: { after: { [FAR_MS]: "closed" }, on: { BACK: "open" } },
    closed: {},
  },
};
const TICKET_2 = {
  id: "ticket",
  initial: "open",
  context: { n: 1, level: 0 },
  states: {
    open: { on: { ASK: "waiting" } },
    waiting: { after: { [FAR_MS]: "late" }, on: { BACK: "open" } },
    late: {},
  },
};
const RULE = {
  match: "all",
  stateMapping: { asked: "waiting" },
  contextMapping: { level: { "@expr": "context.n + 1" } },
};

/** What the third step could do: rules, moves of every outcome, rescues, and a sweep that is killed in its middle. */
export async function playMoves(scribe: Scribe, checkout: string): Promise<void> {
  await playTickets(scribe);
  await playLoans(scribe, checkout);
  await playSweep(scribe);
}

async function playTickets(scribe: Scribe): Promise<void> {
  await scribe.deploy("ticket-v1", TICKET);
  for (const id of ["ticket-moved", "ticket-back", "ticket-stranded", "ticket-rescued"]) {
    await scribe.spawn("ticket-v1", id);
  }
  await scribe.send("ticket-moved", "ASK");
  await scribe.send("ticket-stranded", "CLOSE");
  await scribe.send("ticket-rescued", "CLOSE");
  const closed = "/v1/actors/count?family=ticket&state=closed";
  await scribe.until(closed, { total: 2 });
  const rule = { parentId: "ticket-v1", onUnmappable: "strand", ...RULE };
  const ruleId = await moveBy(scribe, "ticket-v2", TICKET_2, rule);
  const path = "/v1/actors/ticket-rescued/rescue";
  const reason = "it was closed too early";
  const rescue = { stateValue: "open", definitionId: "ticket-v2", reason };
  await scribe.ask("POST", path, rescue);
  await scribe.ask("POST", "/v1/actors/ticket-back/rollback", { reason: "too early" });
  scribe.rests("ticket-moved", "ticket-back", "ticket-stranded", "ticket-rescued");
  scribe.reads(
    `/v1/migrations/${ruleId}`,
    `/v1/migrations/${ruleId}/items`,
    "/v1/actors/ticket-moved/decisions",
    "/v1/actors/ticket-back/decisions",
    "/v1/actors/count?family=ticket&groupBy=definitionId",
    "/v1/actors?family=ticket&attention=stranded",
  );
  scribe.next("POST", "/v1/actors/ticket-moved/rollback", 200, {}, { definitionId: "ticket-v1" });
  scribe.next("POST", "/v1/actors/ticket-stranded/rescue", 200, rescue, { status: "active" });
  scribe.next(
    "POST",
    "/v1/actors/ticket-back/events",
    200,
    { type: "ASK" },
    {
      definitionId: "ticket-v1",
      stateValue: "asked",
    },
  );
}

/** By their histories: who paid moves, whose fee was waived stays. Then the rule is paused. */
async function playLoans(scribe: Scribe, checkout: string): Promise<void> {
  const next = await example(checkout, "loan", "loan-v2");
  const historyPath = ["SUBMIT_INFO", "PAY_FEE"];
  const rule = { parentId: "loan-v1", historyPath, contextMapping: { income: 0 } };
  const ruleId = await moveBy(scribe, "loan-v2", next, rule);
  await scribe.until("/v1/actors/loan-paid", { definitionId: "loan-v2" });
  await scribe.ask("POST", `/v1/migrations/${ruleId}/pause`, {});
  scribe.reads("/v1/actors/loan-waived/decisions", "/v1/actors/loan-new/decisions");
  scribe.next("POST", `/v1/migrations/${ruleId}/resume`, 200, {});
  scribe.next("POST", `/v1/migrations/${ruleId}/retire`, 200, {}, { state: "retired" });
}

async function playSweep(scribe: Scribe): Promise<void> {
  await scribe.deploy("guest-v1", GUEST);
  const ids = Array.from({ length: GUESTS }, (_, n) => `guest-${n}`);
  await scribe.spawnMany("guest-v1", ids);
  const rule = { parentId: "guest-v1", match: "all" };
  scribe.killAmong(inTheMiddle(ids), async () => {
    const { rule: made } = await scribe.deploy("guest-v2", GUEST_2, rule);
    const path = `/v1/migrations/${String((made as JsonObject)["id"])}`;
    scribe.becomes(path, { state: "active", counts: { migrated: GUESTS, failed: 0 } });
    scribe.becomes("/v1/actors/count?definitionId=guest-v2", { total: GUESTS });
    scribe.becomes("/v1/actors/guest-7", { definitionId: "guest-v2", seq: 2, timers: [] });
  });
  scribe.next("POST", "/v1/actors/guest-7/events", 200, { type: "LEAVE" }, { stateValue: "gone" });
}

/** Deploys a version with a rule and waits until everybody was asked. */
async function moveBy(
  scribe: Scribe,
  id: string,
  definition: JsonObject,
  rule: JsonObject,
): Promise<string> {
  const { rule: made } = await scribe.deploy(id, definition, rule);
  const ruleId = String((made as JsonObject)["id"]);
  await scribe.until(`/v1/migrations/${ruleId}`, { state: "active" });
  return ruleId;
}
