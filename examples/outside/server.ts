// `npm run outside`: the services that the examples call, on http://127.0.0.1:8790, each of which can be told to misbehave.
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { answer, misbehave, plannedFault } from "./faults.ts";
import type { Fault, PlannedFault } from "./faults.ts";
import { Receiver } from "./receiver.ts";
import type { Call } from "./receiver.ts";
import { SERVICES } from "./services.ts";

export interface OutsideOptions {
  /** Default 0: a free one. */
  port?: number;
  /** Where effects are kept, a line each. */
  keep?: string;
  /** Decides about faults where none is planned. */
  fault?: (call: Call) => Fault | null;
}

export interface Outside {
  url: string;
  receiver: Receiver;
  /** The next `times` requests to a service go wrong. */
  plan(fault: Fault & { service: string; times?: number }): void;
  stop(): void;
}

/** Starts the services. Those who call are not awaited at the end. */
export async function startOutside(options: OutsideOptions = {}): Promise<Outside> {
  const receiver = new Receiver(options.keep ?? null);
  const planned: PlannedFault[] = [];

  function faultOf(call: Call): Fault | null {
    const found = planned.find(({ service, times }) => service === call.service && times > 0);
    if (found === undefined) return options.fault?.(call) ?? null;
    found.times -= 1;
    return found;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://outside");
    const service = pathname.slice(1);
    if (request.method === "GET" && service === "effects") {
      return answer(response, { status: 200, body: effects(searchParams.get("about") ?? "") });
    }
    const text = await textOf(request);
    if (service === "faults") {
      const fault = plannedFault(JSON.parse(text) as Partial<PlannedFault>);
      if (typeof fault === "string") return complain(response, 400, fault);
      planned.push(fault);
      return answer(response, { status: 200, body: fault });
    }
    if (SERVICES[service] === undefined) return complain(response, 404, "no such service");
    // A structured field: in quotes, which are not part of the key.
    const key = request.headers["idempotency-key"]?.toString().replace(/^"(.*)"$/, "$1");
    if (!key) return complain(response, 400, "send an Idempotency-Key");
    const call: Call = { service, key, text, body: JSON.parse(text) as Call["body"] };
    receiver.count(call);
    await misbehave(faultOf(call), request, response, () => receiver.act(call));
  }

  /** All effects whose request holds a text, such as the id of an order. */
  function effects(about: string): object {
    const found = receiver.effects.filter(({ text }) => text.includes(about));
    return {
      effects: found.map(({ service, key, reply }) => {
        return { service, key, calls: receiver.callsOf(key), reply: reply.body };
      }),
    };
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => complain(response, 400, String(error)));
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receiver,
    plan: ({ times = 1, ...fault }) => void planned.push({ ...fault, times }),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

function complain(response: ServerResponse, status: number, message: string): void {
  if (!response.headersSent) answer(response, { status, body: { code: "bad_request", message } });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "8790" }, keep: { type: "string" } },
  });
  const { port, keep } = values;
  const { url } = await startOutside({ port: Number(port), ...(keep !== undefined && { keep }) });
  console.log(`The outside world of the examples is at ${url}`);
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
