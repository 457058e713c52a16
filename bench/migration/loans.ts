import { readFile } from "node:fs/promises";
import { wireRequest } from "../connection.ts";
import type { Answer } from "../connection.ts";
import { DEFINITION, HEADERS } from "../perdure.ts";
import { WrongAnswer } from "../target.ts";

export const TARGET = "loan-v2";
const LOAN_V2 = new URL("../../examples/loan/loan-v2.json", import.meta.url);

/** What an actor has lived through, and where it has to be afterwards. */
interface Fate {
  name: string;
  share: number;
  events: readonly { type: string; payload?: object }[];
  definitionId: string;
  stateValue: string;
}

const INFO = { type: "SUBMIT_INFO", payload: { applicant: "A", amount: 12_000 } };
const PAID = { type: "PAY_FEE", payload: { amount: 50 } };
const WAIVED = { type: "WAIVE_FEE", payload: { by: "clerk" } };
const DOCUMENT = { type: "ADD_DOCUMENT", payload: { name: "passport.pdf" } };
const SUBMITTED = [DOCUMENT, DOCUMENT, { type: "SUBMIT_DOCUMENTS" }];

/** Paid and further on, in a state of both versions, is a match as well. */
const FATES: readonly Fate[] = [
  {
    name: "paid",
    share: 0.4,
    events: [INFO, PAID],
    definitionId: TARGET,
    stateValue: "awaiting_documents",
  },
  {
    name: "waived",
    share: 0.3,
    events: [INFO, WAIVED],
    definitionId: DEFINITION,
    stateValue: "awaiting_documents",
  },
  {
    name: "not yet",
    share: 0.2,
    events: [INFO],
    definitionId: DEFINITION,
    stateValue: "awaiting_fee",
  },
  {
    name: "further on",
    share: 0.1,
    events: [INFO, PAID, ...SUBMITTED],
    definitionId: TARGET,
    stateValue: "in_review",
  },
];

export interface Loan {
  id: string;
  fate: Fate;
}

export function fleetOf(actors: number): Loan[] {
  const loans: Loan[] = [];
  for (let n = 0; n < actors; n += 1) {
    // In turns, so that every shard has some of each.
    let at = ((n * 7) % 10) / 10;
    const fate = FATES.find(({ share }) => (at -= share) < -1e-9) ?? (FATES[0] as Fate);
    loans.push({ id: `loan-${n}`, fate });
  }
  return loans;
}

export function countOf(loans: readonly Loan[], name: string): number {
  return loans.filter(({ fate }) => fate.name === name).length;
}

export function liveOf({ id, fate }: Loan): string {
  const headers = { ...HEADERS, "Idempotency-Key": "lived" };
  const body = JSON.stringify({ events: fate.events });
  return wireRequest("POST", `/v1/actors/${id}/events/batch`, headers, body);
}

export function expectLived({ id, fate }: Loan, { status, body }: Answer): void {
  const { results } = JSON.parse(body) as { results?: { handled: boolean }[] };
  if (status === 200 && results?.length === fate.events.length && results.every((r) => r.handled))
    return;
  throw new WrongAnswer(`${id} did not live as it should: ${status} ${body}`);
}

export function readOf({ id }: Loan): string {
  return wireRequest("GET", `/v1/actors/${id}`, HEADERS);
}

export function expectFate({ id, fate }: Loan, { status, body }: Answer): void {
  const actor = JSON.parse(body) as {
    definitionId: string;
    stateValue: string;
    historyLength: number;
    context: { feePaid: number; income?: number };
    timers: unknown[];
  };
  const paid = fate.events.some(({ type }) => type === PAID.type) ? 50 : 0;
  const right =
    status === 200 &&
    actor.definitionId === fate.definitionId &&
    actor.stateValue === fate.stateValue &&
    actor.historyLength === fate.events.length &&
    actor.context.feePaid === paid &&
    actor.context.income === (fate.definitionId === TARGET ? 0 : undefined) &&
    actor.timers.length === 1;
  if (!right) throw new WrongAnswer(`${id} (${fate.name}) is wrong: ${status} ${body}`);
}

export async function deployBody(): Promise<string> {
  const definition = JSON.parse(await readFile(LOAN_V2, "utf8")) as object;
  return JSON.stringify({
    id: TARGET,
    definition,
    parentId: DEFINITION,
    historyPath: ["SUBMIT_INFO", "PAY_FEE"],
    contextMapping: { income: 0 },
  });
}
