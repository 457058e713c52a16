import { readFile } from "node:fs/promises";
import { startServer } from "../scripts/server.ts";
import { wireRequest } from "./connection.ts";
import { expectAnswer } from "./target.ts";
import type { Running, Target } from "./target.ts";
import { EVENTS, STATES, eventOf } from "./workload.ts";

const LOAN = new URL("../examples/loan/loan.json", import.meta.url);
export const DEFINITION = "loan-v1";
export const HEADERS = { Authorization: "Bearer dev", "Content-Type": "application/json" };

const WIRE: Omit<Target, "name" | "start"> = {
  trivial: wireRequest("GET", "/v1/health", {}),
  create: (id) =>
    wireRequest(
      "POST",
      "/v1/actors",
      { ...HEADERS, "Idempotency-Key": `spawn-${id}` },
      JSON.stringify({ definitionId: DEFINITION, id }),
    ),
  checkCreated: (id, answer) =>
    expectAnswer(answer, 201, { id, seq: 1, status: "active", stateValue: "collecting_info" }),
  event: (id, index) =>
    wireRequest(
      "POST",
      `/v1/actors/${id}/events`,
      { ...HEADERS, "Idempotency-Key": `event-${index}` },
      eventOf(index),
    ),
  checkEvent: (id, index, answer) =>
    expectAnswer(answer, 200, {
      actorId: id,
      seq: index + 2,
      handled: true,
      stateValue: STATES[Math.min(index, STATES.length - 1)],
    }),
  outcome: {
    read: (id) => wireRequest("GET", `/v1/actors/${id}`, HEADERS),
    check: (id, answer) =>
      expectAnswer(answer, 200, { id, seq: EVENTS.length + 1, stateValue: STATES.at(-1) }),
  },
};

/** Perdure as `npm start` serves it. */
export const perdure = served("Perdure", {});

/** The same without an index of its actors, so nothing can be listed: what the actors alone cost. */
export const perdureAlone = served("no directory", { PERDURE_DIRECTORY: "off" });

function served(name: string, env: Record<string, string>): Target {
  return {
    name,
    ...WIRE,
    async start(directory): Promise<Running> {
      const server = await startServer({ persistTo: directory, env });
      const end = () => server.kill();
      try {
        await deployLoan(server.url);
      } catch (error) {
        await end();
        throw error;
      }
      return { url: server.url, pid: server.serverPid, end };
    },
  };
}

export async function deployLoan(url: string, id = DEFINITION): Promise<void> {
  const definition = JSON.parse(await readFile(LOAN, "utf8"));
  const response = await fetch(`${url}/v1/definitions`, {
    method: "PUT",
    headers: HEADERS,
    body: JSON.stringify({ id, definition }),
  });
  expectAnswer({ status: response.status, body: await response.text() }, 201, { id });
}
