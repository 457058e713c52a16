import type { JsonObject } from "../../../src/sdk/index.ts";
import type { History } from "./history.ts";
import type { Server } from "./server.ts";

/** What a client asks for, and what must become of it whatever dies on the way. */
export interface Job {
  id: string;
  definitionId: string;
  input: object;
  events: { type: string; payload: object; key: string }[];
  /** Whether somebody pauses it after its last event, and resumes it. */
  paused: boolean;
  /** How it may end: a state, and the effects outside in their order. Each request names its job as `orderId`. */
  ends: { state: string; effects: string[] }[];
  /** Of the context at the end: what does not fit, or nothing. */
  misfit(context: JsonObject): unknown;
  /** Of the context at the end: the actors that it has spawned. */
  children(context: JsonObject): string[];
}

/** Sent and acknowledged; the number of its record is what the answer said. */
export interface Acknowledged {
  key: string;
  seq: number;
}

/** Spawns a job's actor and sends its events, each until it is acknowledged. */
export async function place(job: Job, server: Server, history: History): Promise<Acknowledged[]> {
  const { id, definitionId, input } = job;
  const spawn = { definitionId, id, input };
  const spawned = await server.call("POST", "/v1/actors", `${id}-spawn`, spawn);
  if (spawned.status !== 201) throw new Error(`${id}: ${JSON.stringify(spawned)}`);
  const acknowledged: Acknowledged[] = [];
  for (const { key, ...event } of job.events) {
    const { status, body } = await server.call("POST", `/v1/actors/${id}/events`, key, event);
    history.note("answered", { id, key, status, seq: body.seq });
    if (status !== 200 || !body.handled) throw new Error(`${id}: ${JSON.stringify(body)}`);
    acknowledged.push({ key, seq: body.seq });
  }
  if (job.paused) {
    for (const verb of ["pause", "resume"]) {
      const { status } = await server.call("POST", `/v1/actors/${id}/${verb}`, `${id}-${verb}`, {});
      history.note("answered", { id, verb, status });
      // It may have ended before.
      if (status !== 200 && status !== 409) throw new Error(`${id}: ${verb}: ${status}`);
    }
  }
  return acknowledged;
}
