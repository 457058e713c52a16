import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";
import { ROOT } from "../house/sources.ts";
import { seeded } from "../support/seeded.ts";
import { wrongWith } from "./crash/check.ts";
import { History } from "./crash/history.ts";
import { Mortal } from "./crash/killer.ts";
import { Faults, orderOf, place } from "./crash/orders.ts";
import type { Acknowledged, Order } from "./crash/orders.ts";

/** `PERDURE_CRASH_ROUNDS=200` by hand; `PERDURE_CRASH_SEED` plays the dice of another run again. */
const ROUNDS = Number(process.env["PERDURE_CRASH_ROUNDS"] ?? 12);
const SEED = Number(process.env["PERDURE_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const CLIENTS = 6;
/** ms of the shortest and the longest life of a server. */
const LIFE_MS = [50, 1_500] as const;
/** Orders that must end for each round, or nothing is shown. */
const ORDERS_PER_ROUND = 4;
/** ms in which every order ends once nobody kills any more: several timeouts and pauses, on a busy machine. */
const REST_MS = 120_000;

const history = new History();
const faults = new Faults(seeded(SEED), history);
const orders: Order[] = [];
const acknowledged = new Map<string, Acknowledged[]>();

let folder: string;
let outside: Outside;
let server: Mortal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-crash-"));
  outside = await startOutside({
    keep: join(folder, "effects.jsonl"),
    fault: (call) => faults.of(call),
  });
  server = new Mortal(join(folder, "data"), history);
  await server.start();
  const machine = JSON.parse(readFileSync(join(ROOT, "examples/order/order.json"), "utf8"));
  const body = { id: "order-v1", definition: machine };
  expect((await server.call("PUT", "/v1/definitions", "-", body)).status).toBe(201);
});

afterAll(async () => {
  await server?.kill();
  outside?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One customer after the other, until the last kill. */
async function work(client: number, last: AbortSignal): Promise<void> {
  const random = seeded(SEED + 10 + client);
  for (let count = 0; !last.aborted; count += 1) {
    const order = orderOf(`order-${client}-${count}`, random);
    orders.push(order);
    acknowledged.set(order.id, await place(order, outside.url, server, history));
  }
}

async function killAgainAndAgain(): Promise<void> {
  const random = seeded(SEED + 1);
  const [shortest, longest] = LIFE_MS;
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(shortest + random() * (longest - shortest));
    await server.kill();
    await server.start();
  }
}

/** Clients work and the server dies; over when both are. */
async function liveThroughIt(): Promise<void> {
  const last = new AbortController();
  const killing = killAgainAndAgain().finally(() => last.abort());
  const clients = Array.from({ length: CLIENTS }, (_, client) => work(client, last.signal));
  await Promise.all([killing, ...clients]);
}

/** Waits until all orders have ended by themselves; how many have. */
async function allEnded(): Promise<number> {
  const end = Date.now() + REST_MS;
  for (;;) {
    const { body } = await server.call("GET", "/v1/actors/count?status=done", "-");
    if (body.total >= orders.length || Date.now() > end) return body.total as number;
    await sleep(500);
  }
}

describe("orders under random kills of the whole server", () => {
  it(
    `each have every effect once and the right end, ${ROUNDS} rounds with the seed ${SEED}`,
    async () => {
      await liveThroughIt();
      const ended = await allEnded();
      const wrong: string[] = [];
      for (const order of orders) {
        const answers = acknowledged.get(order.id) ?? [];
        wrong.push(...(await wrongWith(order, answers, outside.receiver.effects, server)));
      }

      const { effects, calls } = outside.receiver;
      const report = {
        seed: SEED,
        rounds: ROUNDS,
        orders: orders.length,
        ended,
        calls,
        effects: effects.length,
        repeatedByKills: faults.repeatedByKills(calls),
      };
      // oxlint-disable-next-line no-console
      console.log(`activities under kills: ${JSON.stringify(report)}`);
      if (wrong.length > 0) {
        wrong.forEach((line) => history.note("wrong", { line }));
        wrong.push(`its history is in ${history.save()}`);
      }
      expect(wrong).toEqual([]);
      expect(ended).toBe(orders.length);
      expect(report.repeatedByKills, "no kill met a call: nothing is shown").toBeGreaterThan(0);
      expect(ended, "too few orders: nothing is shown").toBeGreaterThan(ROUNDS * ORDERS_PER_ROUND);
    },
    REST_MS * 2 + ROUNDS * 5_000,
  );
});
