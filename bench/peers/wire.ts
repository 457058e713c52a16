import { wireRequest } from "../connection.ts";
import { expectAnswer } from "../target.ts";
import type { Target } from "../target.ts";
import { EVENTS, STATES } from "../workload.ts";

const JSON_BODY = { "Content-Type": "application/json" };
export const OUTCOME = { seq: EVENTS.length + 1, state: STATES.at(-1) };

/** The workload on the wire of a peer that we wrote the HTTP side of. */
export const PLAIN_WIRE: Omit<Target, "name" | "start"> = {
  trivial: wireRequest("GET", "/", {}),
  create: (id) =>
    wireRequest(
      "POST",
      `/instances/${id}`,
      { ...JSON_BODY, "Idempotency-Key": `spawn-${id}` },
      JSON.stringify({ id }),
    ),
  checkCreated: (id, answer) => expectAnswer(answer, 201, { id, seq: 1, state: "collecting_info" }),
  event: (id, index) =>
    wireRequest(
      "POST",
      `/instances/${id}/events`,
      { ...JSON_BODY, "Idempotency-Key": `event-${index}` },
      EVENTS[index],
    ),
  checkEvent: (id, index, answer) =>
    expectAnswer(answer, 200, { id, seq: index + 2, state: STATES[index] }),
  outcome: {
    read: (id) => wireRequest("GET", `/instances/${id}`, {}),
    check: (id, answer) => expectAnswer(answer, 200, { id, ...OUTCOME }),
  },
};
