import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "../test/support/until.ts";
import { Connection, wireRequest } from "./connection.ts";
import type { Lab } from "./lab.ts";
import type { BenchOptions } from "./options.ts";
import { HEADERS, perdure } from "./perdure.ts";
import { progress } from "./progress.ts";
import { median, quantile } from "./statistics.ts";
import { table } from "./table.ts";
import { WrongAnswer, expectAnswer } from "./target.ts";
import type { Running } from "./target.ts";

const GOAL_MS = 5;
const WARM_UP = 50;
const CALLING = "calling-v1";
const PLAIN = "plain-v1";

/** ms since the event was sent, of one actor. */
interface Times {
  /** The answer to the event: it is on the disk. */
  answered: number;
  /** The call reached the service. */
  called: number;
}

/**
 * How long an event takes until the call that it asks for reaches a service, next to the same event without a call.
 * One after the other, so nothing waits for its turn. The service is in this process: one clock tells all times.
 */
export async function activities(lab: Lab, { calls }: BenchOptions): Promise<string> {
  const service = new Service();
  await service.open();
  try {
    return await lab.serve(perdure, async (running) => {
      await deploy(running.url, service.url);
      const connection = await Connection.open(running.url);
      await play(connection, service, WARM_UP, "w");
      const { calling, plain } = await play(connection, service, calls, "c");
      const ended = await allEnded(running, calls);
      connection.close();
      return report(calls, calling, plain, ended);
    });
  } finally {
    service.close();
  }
}

/** Actors that call and actors that do not take turns, so that a slow second falls on both. */
async function play(connection: Connection, service: Service, count: number, prefix: string) {
  const calling: Times[] = [];
  const plain: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = `${prefix}-${index}`;
    await spawn(connection, CALLING, id);
    const reached = service.expect(`/${id}`);
    const from = performance.now();
    await event(connection, id, "calling");
    const answered = performance.now() - from;
    calling.push({ answered, called: (await reached) - from });
    await spawn(connection, PLAIN, `${id}-plain`);
    const begun = performance.now();
    await event(connection, `${id}-plain`, "calling");
    plain.push(performance.now() - begun);
    if (index % 50 === 0) progress(`${index} of ${count} calls`);
  }
  progress("");
  return { calling, plain };
}

function report(
  count: number,
  calling: readonly Times[],
  plain: readonly number[],
  ended: number,
): string {
  const answered = calling.map((times) => times.answered);
  const called = calling.map((times) => times.called);
  const beyond = calling.map((times) => times.called - times.answered);
  const row = (name: string, values: readonly number[]) => [
    name,
    ...[median(values), quantile(values, 0.95), Math.max(...values)].map((ms) => ms.toFixed(2)),
  ];
  const rows = [
    ["", "p50 ms", "p95 ms", "most ms"],
    row("event without a call, answered", plain),
    row("event with a call, answered", answered),
    row("its call reaches the service", called),
    row("the call, beyond the answer", beyond),
  ];
  return [
    `${count} actors, one after the other; each gets one event, which starts an http activity. ${ended} of them had its result at the end`,
    table(rows, [0]),
    `From commit to call, p50: ${median(beyond).toFixed(2)} ms (goal ${GOAL_MS} ms)`,
  ].join("\n\n");
}

async function spawn(connection: Connection, definitionId: string, id: string): Promise<void> {
  const headers = { ...HEADERS, "Idempotency-Key": `spawn-${id}` };
  const body = JSON.stringify({ definitionId, id });
  const answer = await connection.request(wireRequest("POST", "/v1/actors", headers, body));
  expectAnswer(answer, 201, { id, stateValue: "idle" });
}

async function event(connection: Connection, id: string, stateValue: string): Promise<void> {
  const headers = { ...HEADERS, "Idempotency-Key": "go" };
  const path = `/v1/actors/${id}/events`;
  const answer = await connection.request(wireRequest("POST", path, headers, '{"type":"GO"}'));
  expectAnswer(answer, 200, { actorId: id, handled: true, stateValue });
}

/** How many actors came to their end by the result of their call. */
async function allEnded({ url }: Running, count: number): Promise<number> {
  const ask = async () => {
    const path = `${url}/v1/actors/count?definitionId=${CALLING}&status=done`;
    const response = await fetch(path, { headers: HEADERS });
    return ((await response.json()) as { total: number }).total;
  };
  const total = await until(ask, (ended) => ended >= count + WARM_UP);
  if (total !== count + WARM_UP) throw new WrongAnswer(`Only ${total} actors had their result.`);
  return total - WARM_UP;
}

async function deploy(url: string, service: string): Promise<void> {
  const invoke = {
    id: "call",
    src: "http",
    input: { url: { "@expr": `"${service}/" + self.id` } },
    onDone: "done",
    onError: "failed",
  };
  const machine = (id: string, calling: object) => ({
    id,
    initial: "idle",
    states: {
      idle: { on: { GO: "calling" } },
      calling,
      done: { type: "final" },
      failed: { type: "final" },
    },
  });
  const definitions = [
    { id: CALLING, definition: machine("calling", { invoke }) },
    { id: PLAIN, definition: machine("plain", { on: { OK: "done", NO: "failed" } }) },
  ];
  for (const definition of definitions) {
    const request = { method: "PUT", headers: HEADERS, body: JSON.stringify(definition) };
    const response = await fetch(`${url}/v1/definitions`, request);
    const answer = { status: response.status, body: await response.text() };
    expectAnswer(answer, 201, { id: definition.id });
  }
}

/** A service that answers 200 at once and knows when it was reached. */
class Service {
  readonly #server: Server;
  readonly #expected = new Map<string, (at: number) => void>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.#expected.get(request.url ?? "")?.(performance.now());
      request.resume();
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  /** When the next call of that path comes. */
  expect(path: string): Promise<number> {
    return new Promise((resolve) => this.#expected.set(path, resolve));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
