import { wireRequest } from "../connection.ts";
import { expectAnswer } from "../target.ts";
import type { Target } from "../target.ts";
import { startWorker } from "../worker.ts";
import { EVENTS } from "../workload.ts";

const HEADERS = { "Content-Type": "application/json" };

/** A Durable Object that does one insert per call: what the platform alone allows. */
export const bareObject: Target = {
  name: "bare object",
  start: (directory) =>
    startWorker(directory, {
      main: "worker.js",
      modules: [],
      objects: [{ binding: "OBJECTS", className: "BareObject" }],
      directory: import.meta.dirname,
    }),
  trivial: wireRequest("GET", "/", {}),
  create: (id) =>
    wireRequest(
      "POST",
      `/instances/${id}`,
      { ...HEADERS, "Idempotency-Key": `spawn-${id}` },
      JSON.stringify({ id }),
    ),
  checkCreated: (id, answer) => expectAnswer(answer, 201, { id, seq: 1 }),
  event: (id, index) =>
    wireRequest(
      "POST",
      `/instances/${id}/events`,
      { ...HEADERS, "Idempotency-Key": `event-${index}` },
      EVENTS[index],
    ),
  checkEvent: (id, index, answer) => expectAnswer(answer, 200, { id, seq: index + 2 }),
};
