import { readFile } from "node:fs/promises";
import { startServer } from "../scripts/server.ts";
import { wireRequest } from "./connection.ts";
import { expectAnswer } from "./target.ts";
import type { Target } from "./target.ts";
import { EVENTS, STATES } from "./workload.ts";

const LOAN = new URL("../examples/loan/loan.json", import.meta.url);
const DEFINITION = "loan-v1";
const HEADERS = { Authorization: "Bearer dev", "Content-Type": "application/json" };

/** Perdure as `npm start` serves it. */
export const perdure: Target = {
  name: "Perdure",
  async start(directory) {
    const server = await startServer({ persistTo: directory });
    const end = () => server.kill();
    try {
      await deployLoan(server.url);
    } catch (error) {
      await end();
      throw error;
    }
    return { url: server.url, pid: server.serverPid, end };
  },
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
      EVENTS[index],
    ),
  checkEvent: (id, index, answer) =>
    expectAnswer(answer, 200, {
      actorId: id,
      seq: index + 2,
      handled: true,
      stateValue: STATES[index],
    }),
};

export async function deployLoan(url: string): Promise<void> {
  const definition = JSON.parse(await readFile(LOAN, "utf8"));
  const response = await fetch(`${url}/v1/definitions`, {
    method: "PUT",
    headers: HEADERS,
    body: JSON.stringify({ id: DEFINITION, definition }),
  });
  expectAnswer({ status: response.status, body: await response.text() }, 201, { id: DEFINITION });
}
