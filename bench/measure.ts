import { performance } from "node:perf_hooks";
import { Connection } from "./connection.ts";
import type { WireRequest } from "./connection.ts";
import { treesCpuSeconds } from "./process-trees.ts";
import { quantile } from "./statistics.ts";
import type { Running, Target } from "./target.ts";
import { WrongAnswer, processesOf } from "./target.ts";
import { EVENTS } from "./workload.ts";

/** One stretch of measuring. */
export interface Measured {
  /** How many of the ids were done, from the first on: fewer than given when time was up. */
  done: number;
  /** Acknowledged per second of wall time. */
  rate: number;
  p50Ms: number;
  p99Ms: number;
  wallMs: number;
  /** Processor seconds of the server per 1,000; null off Linux. */
  cpuPer1000: number | null;
  /** Share of the wall time in which the client's one thread was at work, 0 to 1. */
  clientBusy: number;
  /** Requests sent again because the server had closed the connection. */
  resent: number;
}

export interface Load {
  clients: number;
  /** No client begins anything new after so many milliseconds. */
  limitMs: number;
}

/** Connections are new in each stretch: workerd closes those that are idle for some seconds. */
async function withConnections<T>(
  { url }: Running,
  clients: number,
  use: (connections: Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await Promise.all(
    Array.from({ length: clients }, () => Connection.open(url)),
  );
  try {
    return await use(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Each instance created and played to its end before the client takes the next one. */
export function mixed(
  target: Target,
  running: Running,
  load: Load,
  ids: string[],
): Promise<Measured> {
  return inTurn(running, load, ids, async (connection, id, latencies) => {
    await create(target, connection, id);
    await play(target, connection, id, latencies);
  });
}

/** The first phase of phased: only creates. */
export function creates(
  target: Target,
  running: Running,
  load: Load,
  ids: string[],
): Promise<Measured> {
  return inTurn(running, load, ids, async (connection, id, latencies) => {
    const from = performance.now();
    await create(target, connection, id);
    latencies.push(performance.now() - from);
  });
}

/** The second phase of phased: only the events of instances that are there. */
export function events(
  target: Target,
  running: Running,
  load: Load,
  ids: string[],
): Promise<Measured> {
  return inTurn(running, load, ids, (connection, id, latencies) =>
    play(target, connection, id, latencies),
  );
}

/** What client and server do together when nothing is to be done. */
export function trivial(
  request: WireRequest,
  running: Running,
  load: Load,
  count: number,
): Promise<Measured> {
  const turns = Array.from({ length: count }, (_, turn) => String(turn));
  return inTurn(running, load, turns, async (connection, _turn, latencies) => {
    const from = performance.now();
    const { status } = await connection.request(request);
    if (status !== 200) throw new WrongAnswer(`Wrong answer: ${status} instead of 200`);
    latencies.push(performance.now() - from);
  });
}

async function create(target: Target, connection: Connection, id: string): Promise<void> {
  target.checkCreated(id, await connection.request(target.create(id)));
}

async function play(
  target: Target,
  connection: Connection,
  id: string,
  latencies: number[],
): Promise<void> {
  for (let index = 0; index < EVENTS.length; index++) {
    const request = target.event(id, index);
    const from = performance.now();
    const answer = await connection.request(request);
    latencies.push(performance.now() - from);
    target.checkEvent(id, index, answer);
  }
}

type Work = (connection: Connection, item: string, latencies: number[]) => Promise<void>;

/** Every client takes the next item when it is done with the one before, on a connection of its own. */
export function inTurn(
  running: Running,
  { clients, limitMs }: Load,
  items: readonly string[],
  work: Work,
): Promise<Measured> {
  return withConnections(running, clients, (connections) =>
    measure(processesOf(running), connections, limitMs, items, work),
  );
}

/** Every client takes the next item as soon as it is done with the one before; what is measured is what `work` timed. */
async function measure(
  processes: readonly number[],
  connections: readonly Connection[],
  limitMs: number,
  items: readonly string[],
  work: Work,
): Promise<Measured> {
  const latencies: number[] = [];
  let done = 0;
  let failed = false;
  const cpuBefore = treesCpuSeconds(processes);
  const loopBefore = performance.eventLoopUtilization();
  const from = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      try {
        for (;;) {
          const item = items[done];
          if (item === undefined || failed || performance.now() - from > limitMs) return;
          done += 1;
          await work(connection, item, latencies);
        }
      } catch (error) {
        failed = true;
        throw error;
      }
    }),
  );
  const wallMs = performance.now() - from;
  const clientBusy = performance.eventLoopUtilization(loopBefore).utilization;
  const cpuAfter = treesCpuSeconds(processes);
  const cpu = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore;
  return {
    done,
    rate: (latencies.length / wallMs) * 1_000,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    wallMs,
    cpuPer1000: cpu === null ? null : (cpu / latencies.length) * 1_000,
    clientBusy,
    resent: connections.reduce((sum, { resent }) => sum + resent, 0),
  };
}
