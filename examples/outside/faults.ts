import { setTimeout as sleep } from "node:timers/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Reply } from "./services.ts";

const FAULTS = ["fail", "drop", "close", "hang", "late", "twice"] as const;

/**
 * How a service misbehaves at one request. Before it acts: `fail` answers `status` (503), `drop` closes the connection.
 * After it acted, which is worse: `close` closes the connection instead of answering, `hang` never answers, `late`
 * answers after `ms` (5,000), `twice` answers, and then again with other words.
 */
export interface Fault {
  what: (typeof FAULTS)[number];
  status?: number;
  ms?: number;
}

/** A fault that waits for the next `times` requests to a service. */
export interface PlannedFault extends Fault {
  service: string;
  times: number;
}

/** Answers a request as well as the fault allows. `act` does what was asked for, once. */
export async function misbehave(
  fault: Fault | null,
  request: IncomingMessage,
  response: ServerResponse,
  act: () => Reply,
): Promise<void> {
  switch (fault?.what) {
    case "fail":
      return answer(response, { status: fault.status ?? 503, body: { code: "out_of_order" } });
    case "drop":
      return void request.socket.destroy();
    case "close":
      act();
      return void request.socket.destroy();
    case "hang":
      return void act();
    case "late": {
      const reply = act();
      // Nothing waits for it but this: a server that stops need not.
      await sleep(fault.ms ?? 5_000, undefined, { ref: false });
      return answer(response, reply);
    }
    case "twice":
      return void request.socket.end(raw(act()) + raw({ status: 200, body: { code: "again" } }));
    default:
      return answer(response, act());
  }
}

export function answer(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}

/**
 * An answer as it is on the wire. It is said to be the last on its connection: where it is not, kj, the HTTP client of
 * workerd, takes what follows for the answer to its next request, and nobody could tell.
 */
function raw({ status, body }: Reply): string {
  const text = JSON.stringify(body);
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`;
  return `HTTP/1.1 ${status} Answer\r\n${headers}\r\nConnection: close\r\n\r\n${text}`;
}

/** Reads a planned fault, or says what is wrong with it. */
export function plannedFault(body: Partial<PlannedFault>): PlannedFault | string {
  const { service, what, times = 1, ...rest } = body;
  if (typeof service !== "string") return "`service` is a path such as payment/charge";
  if (what === undefined || !FAULTS.includes(what))
    return `\`what\` is one of ${FAULTS.join(", ")}`;
  return { ...rest, service, what, times };
}
