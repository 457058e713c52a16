import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wireRequest } from "../../bench/connection.ts";
import type { Answer } from "../../bench/connection.ts";
import { call, listed, onAll, spawnAll } from "../../bench/migration/client.ts";
import {
  TARGET,
  countOf,
  deployBody,
  expectFate,
  expectLived,
  fleetOf,
  liveOf,
  readOf,
} from "../../bench/migration/loans.ts";
import type { Loan } from "../../bench/migration/loans.ts";
import type { RuleAnswer } from "../../bench/migration/sweep.ts";
import { DEFINITION, HEADERS, deployLoan } from "../../bench/perdure.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";

const ACTORS = 2_000;
/** Shares of those who match: as soon as more of them have moved, the server is killed. */
const KILLS = [0.1, 0.3, 0.5];
/** So that the sweep takes some seconds on whatever machine, and each kill comes in the middle. */
const env = { PERDURE_WAKES_PER_SECOND: "200" };
const CLIENTS = 32;
/** Actors of each fate to whom events come while the sweep is under way. */
const VISITED = 40;
const TIMEOUT_MS = 600_000;
const TOO_FEW = "The sweep had ended before a kill, so nothing is shown by it: spawn more ACTORS.";

/** An event that comes meanwhile, and what it leads to wherever the sweep is. */
interface Arrival {
  loan: Loan;
  type: string;
  payload: object;
  definitionId: string;
  migratedTo: string | null | "any";
}

/** The fields of a record and an answer that are looked at. */
interface Seen {
  kind: string;
  key: string | null;
}

interface EventAnswer {
  handled: boolean;
  definitionId: string;
  migratedTo: string | null;
}

let persistTo: string;
let server: RunningServer;
const loans = fleetOf(ACTORS);
const matching = countOf(loans, "paid") + countOf(loans, "further on");

async function start(): Promise<void> {
  server = await startServer({ persistTo, env });
}

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-sweep-"));
  await start();
  await deployLoan(server.url);
  await spawnAll(server.url, loans);
  await onAll(server.url, loans, CLIENTS, liveOf, expectLived);
}, TIMEOUT_MS);
afterAll(async () => {
  await server.kill();
  rmSync(persistTo, { recursive: true, force: true });
});

/** Who is on the new version, by the directory. */
async function movedNow(): Promise<number> {
  const path = `/v1/actors/count?definitionId=${TARGET}`;
  return (await call<{ total: number }>(server.url, "GET", path)).total;
}

/** The same once it is more than `known`: it looks without a pause, so that a kill comes as early as it can. */
async function movedBeyond(known: number): Promise<number> {
  for (let round = 0; round < 100_000; round += 1) {
    const moved = await movedNow();
    if (moved >= matching) throw new Error(TOO_FEW);
    if (moved > known) return moved;
  }
  throw new Error("the sweep does not go on");
}

async function ruleNow(id: string): Promise<RuleAnswer> {
  return await call<RuleAnswer>(server.url, "GET", `/v1/migrations/${id}`);
}

function some(name: string, from: number, count: number): Loan[] {
  return loans.filter(({ fate }) => fate.name === name).slice(from, from + count);
}

/** Those of the end come late in the sweep. */
function arrivals(): Arrival[] {
  const document = { type: "ADD_DOCUMENT", payload: { name: "late.pdf" } };
  const pay = { type: "PAY_FEE", payload: { amount: 50 } };
  const waive = { type: "WAIVE_FEE", payload: { by: "clerk" } };
  return [
    ...some("paid", 400, VISITED).map((loan): Arrival => {
      return { loan, ...document, definitionId: TARGET, migratedTo: "any" };
    }),
    ...some("waived", 200, VISITED).map((loan): Arrival => {
      return { loan, ...document, definitionId: DEFINITION, migratedTo: null };
    }),
    ...some("not yet", 120, VISITED).map((loan): Arrival => {
      return { loan, ...pay, definitionId: TARGET, migratedTo: TARGET };
    }),
    ...some("not yet", 240, VISITED).map((loan): Arrival => {
      return { loan, ...waive, definitionId: DEFINITION, migratedTo: null };
    }),
  ];
}

/** Sent until it is answered, also across a death of the server. */
async function arrive({ loan, type, payload }: Arrival): Promise<EventAnswer> {
  const init = {
    method: "POST",
    headers: { ...HEADERS, "Idempotency-Key": "arrives" },
    body: JSON.stringify({ type, payload }),
  };
  for (let attempt = 0; attempt < 100_000; attempt += 1) {
    try {
      const response = await fetch(`${server.url}/v1/actors/${loan.id}/events`, init);
      const text = await response.text();
      if (response.status === 200) return JSON.parse(text) as EventAnswer;
      if (response.status !== 503) throw new Refused(`${response.status} ${text}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${loan.id} never answered`);
}

class Refused extends Error {}

async function arriveAll(all: readonly Arrival[]): Promise<void> {
  for (const arrival of all) {
    const { handled, definitionId, migratedTo } = await arrive(arrival);
    const wanted = arrival.migratedTo === "any" ? migratedTo : arrival.migratedTo;
    expect({ id: arrival.loan.id, handled, definitionId, migratedTo }).toEqual({
      id: arrival.loan.id,
      handled: true,
      definitionId: arrival.definitionId,
      migratedTo: wanted,
    });
    expect([null, TARGET]).toContain(migratedTo);
  }
}

function logOf({ id }: Loan): string {
  return wireRequest("GET", `/v1/actors/${id}/events?limit=50`, HEADERS);
}

describe("a sweep over 2,000 actors on a real server", () => {
  it(
    "moves each of those who match once, though the server is killed three times on the way",
    async () => {
      const deployed = await call<{ rule: { id: string }; inForceAt: string }>(
        server.url,
        "PUT",
        "/v1/definitions",
        await deployBody(),
      );
      const { id } = deployed.rule;
      const late = arrivals();
      let arriving: Promise<void> | null = null;
      const seen: number[][] = [];
      let known = 0;
      for (const share of KILLS) {
        const before = await movedBeyond(Math.max(known, share * matching));
        // The rule moves actors, so it is in force.
        arriving ??= arriveAll(late);
        await server.kill();
        await start();
        known = await movedNow();
        // It was in the middle: who is moved stays so, and there were some to be moved yet.
        expect(known).toBeGreaterThanOrEqual(before);
        expect(known, TOO_FEW).toBeLessThan(matching);
        seen.push([before, known]);
      }
      // oxlint-disable-next-line no-console
      console.log(`moved before and after each kill, of ${matching}: ${JSON.stringify(seen)}`);
      let rule = await ruleNow(id);
      while (rule.state === "sweeping") {
        await new Promise((resolve) => setTimeout(resolve, 200));
        rule = await ruleNow(id);
      }
      await arriving;

      const came = new Map(late.map((one) => [one.loan.id, one]));
      const fates = loans.map(({ id: actorId, fate }): Loan => {
        const arrival = came.get(actorId);
        if (arrival === undefined) return { id: actorId, fate };
        const { type, payload, definitionId } = arrival;
        const events = [...fate.events, { type, payload }];
        const stays = type === "ADD_DOCUMENT" ? fate.stateValue : "awaiting_documents";
        return { id: actorId, fate: { ...fate, events, definitionId, stateValue: stays } };
      });
      await onAll(server.url, fates, CLIENTS, readOf, expectFate);
      await onAll(server.url, fates, CLIENTS, logOf, expectOneMove);
      const onTarget = fates.filter(({ fate }) => fate.definitionId === TARGET).length;
      expect(onTarget).toBe(matching + VISITED);

      const wanted = {
        migrated: matching + VISITED,
        pending: countOf(loans, "not yet") - 2 * VISITED,
        diverged: countOf(loans, "waived") + VISITED,
        unmappable: 0,
        failed: 0,
      };
      // What a kill kept from the directory comes within about a minute.
      const { state, sweep } = await until(
        () => ruleNow(id),
        ({ counts }) => isDeepStrictEqual({ ...counts, ...wanted }, counts),
        90_000,
      );
      expect(state).toBe("active");
      expect(await listed(server.url, fates)).toBe(onTarget);
      // Who has diverged was never asked; those who became a match may have moved before it was their turn.
      expect(sweep.woken).toBeLessThanOrEqual(matching + countOf(loans, "not yet"));
      expect(sweep.visited).toBeGreaterThanOrEqual(ACTORS);
    },
    TIMEOUT_MS,
  );
});

/** Born, what it lived through, one move where it belongs: nothing else, nothing twice. */
function expectOneMove({ id, fate }: Loan, { status, body }: Answer): void {
  const { items = [] } = JSON.parse(body) as { items?: Seen[] };
  const kinds = items.map(({ kind }) => kind);
  const moves = kinds.filter((kind) => kind === "migrated").length;
  const events = kinds.filter((kind) => kind === "event").length;
  const wanted = fate.definitionId === TARGET ? 1 : 0;
  const right =
    status === 200 &&
    kinds[0] === "spawned" &&
    moves === wanted &&
    events === fate.events.length &&
    kinds.length === 1 + events + moves;
  if (!right) throw new Error(`${id} (${fate.name}) has the wrong log: ${status} ${body}`);
}
