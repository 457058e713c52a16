import { expect } from "vitest";
import { call, fresh } from "./api.ts";
import type { Answer, CallOptions } from "./api.ts";
import { until } from "./until.ts";

const assign = (context: object) => ({ type: "@xstate.assign", context });

/** A loan: information, a fee that is paid or waived, documents, approval. */
export function loanMachine(family: string, states: object = {}): object {
  return {
    id: family,
    initial: "collecting_info",
    context: { applicant: null, entered: 0, feePaid: 0 },
    states: {
      collecting_info: {
        on: {
          SUBMIT_INFO: {
            target: "awaiting_fee",
            actions: assign({ applicant: { "@expr": "event.applicant" } }),
          },
        },
      },
      awaiting_fee: {
        on: {
          PAY_FEE: {
            target: "awaiting_documents",
            actions: assign({ feePaid: { "@expr": "event.amount" } }),
          },
          WAIVE_FEE: "awaiting_documents",
        },
      },
      awaiting_documents: {
        entry: assign({ entered: { "@expr": "context.entered + 1" } }),
        on: { UPLOAD: "review" },
        after: { 2_592_000_000: "expired" },
      },
      review: { on: { APPROVE: "approved" } },
      approved: { type: "final" },
      expired: { type: "final" },
      ...states,
    },
  };
}

/** The same with an income check before approval. */
export function loanWithCheck(family: string, states: object = {}): object {
  return loanMachine(family, {
    review: { on: { APPROVE: "income_check" } },
    income_check: { on: { INCOME_OK: "approved" } },
    ...states,
  });
}

export interface Loans {
  family: string;
  v1: string;
  v2: string;
}

/** Deploys the first version of a family of its own. */
export async function deployLoan(options: CallOptions = {}): Promise<Loans> {
  const family = fresh("loan");
  const body = { id: `${family}-v1`, definition: loanMachine(family) };
  expect((await call("PUT", "/v1/definitions", { ...options, body })).status).toBe(201);
  return { family, v1: `${family}-v1`, v2: `${family}-v2` };
}

/** Body of a deploy that moves those who paid. */
export function secondVersion({ family, v1, v2 }: Loans, more: object = {}): object {
  return {
    id: v2,
    definition: loanWithCheck(family),
    parentId: v1,
    historyPath: ["SUBMIT_INFO", "PAY_FEE"],
    ...more,
  };
}

/** An actor on a definition that has handled events; answers its path. */
export async function applicant(
  definitionId: string,
  name: string,
  types: readonly string[],
  options: CallOptions = {},
): Promise<string> {
  const body = { definitionId, id: fresh(name) };
  const spawned = await call("POST", "/v1/actors", { ...options, body });
  expect(spawned.status).toBe(201);
  const path = `/v1/actors/${body.id}`;
  for (const type of types) {
    const sent = await send(path, type, { applicant: name, amount: 80 }, options);
    expect(sent).toMatchObject({ status: 200, body: { handled: true } });
  }
  return path;
}

export function send(
  path: string,
  type: string,
  payload: object | null = null,
  options: CallOptions = {},
): Promise<Answer> {
  return call("POST", `${path}/events`, { ...options, body: { type, payload } });
}

export const PAID = ["SUBMIT_INFO", "PAY_FEE"];
export const WAIVED = ["SUBMIT_INFO", "WAIVE_FEE"];

/** A preview of so many living actors in the states where they are: the directory knows within a second. */
export async function planned(
  body: object,
  wanted: (plan: Answer["body"]) => boolean,
  options: CallOptions = {},
): Promise<Answer["body"]> {
  const preview = () => call("POST", "/v1/definitions/preview", { ...options, body, key: null });
  return (await until(preview, (one) => one.status === 200 && wanted(one.body))).body;
}

/** A rule once its sweep has ended. */
export async function swept(ruleId: string, options: CallOptions = {}): Promise<Answer["body"]> {
  const read = () => call("GET", `/v1/migrations/${ruleId}`, options);
  const { status, body } = await until(read, (answer) => answer.body.state !== "sweeping");
  expect({ status, state: body.state }, JSON.stringify(body)).toEqual({
    status: 200,
    state: "active",
  });
  return body;
}

/** Waits until every isolate goes by a rule's last change. */
export async function inForce({ inForceAt }: { inForceAt: string }): Promise<void> {
  const ms = Date.parse(inForceAt) - Date.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms + 5));
}
