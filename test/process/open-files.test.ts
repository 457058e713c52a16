import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../../bench/connection.ts";
import { Connection, wireRequest } from "../../bench/connection.ts";
import { call, listed } from "../../bench/migration/client.ts";
import { countOf, deployBody, fleetOf, liveOf } from "../../bench/migration/loans.ts";
import type { Loan } from "../../bench/migration/loans.ts";
import { pause, watchSweep } from "../../bench/migration/sweep.ts";
import { DEFINITION, HEADERS, deployLoan } from "../../bench/perdure.ts";
import { wakesPerSecond } from "../../scripts/open-files.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";

/** So few that some 100 actors may be awake at once. */
const OPEN_FILES = 420;
const ACTORS = 80;
/** Of one fleet that is spawned to be refused. */
const CROWD = 200;
/** Fleets that are spawned at most until one is refused: a slow machine lets actors go meanwhile. */
const FLEETS = 20;
const CLIENTS = 8;
/** ms between attempts, and attempts: an idle actor's files are closed after ten seconds. */
const AGAIN_MS = 500;
const ATTEMPTS = 200;

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-files-"));
  server = await startServer({ persistTo: folder, openFiles: OPEN_FILES });
});
afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

function spawnOf({ id }: Loan): string {
  const headers = { ...HEADERS, "Idempotency-Key": id };
  return wireRequest(
    "POST",
    "/v1/actors",
    headers,
    JSON.stringify({ definitionId: DEFINITION, id }),
  );
}

/** Spawns actors by one request, many at once; how many were refused, each with a 503. */
async function spawnAtOnce(name: string): Promise<number> {
  const ids = Array.from({ length: CROWD }, (_, n) => `${name}-${n}`);
  const { items } = await call<{ items: { status: number; problem?: { code: string } }[] }>(
    server.url,
    "POST",
    "/v1/actors/bulk",
    JSON.stringify({ actors: ids.map((id) => ({ definitionId: DEFINITION, id })) }),
    { "Idempotency-Key": name },
  );
  const refused = items.filter(({ status }) => status !== 201);
  for (const item of refused) {
    expect(item).toMatchObject({ status: 503, problem: { code: "unavailable" } });
  }
  return refused.length;
}

/** Sends each its request until it is answered otherwise than by a 503. */
async function untilServed(
  connections: readonly Connection[],
  loans: readonly Loan[],
  request: (loan: Loan) => string,
  expected: number,
): Promise<void> {
  const expect503 = ({ body }: Answer) =>
    expect(JSON.parse(body)).toMatchObject({ code: "unavailable", retryable: true });
  let next = 0;
  const work = async (connection: Connection): Promise<void> => {
    for (let loan = loans[next++]; loan; loan = loans[next++]) {
      for (let attempt = 0; ; attempt += 1) {
        const answer = await connection.request(request(loan));
        if (answer.status === expected) break;
        expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 503 });
        expect503(answer);
        expect(attempt).toBeLessThan(ATTEMPTS);
        await sleep(AGAIN_MS);
      }
    }
  };
  await Promise.all(connections.map(work));
}

describe("a server that may have few files open", () => {
  it("leaves room for those who call beside a sweep", () => {
    expect(wakesPerSecond(20_000)).toBeGreaterThan(500);
    expect(wakesPerSecond(20_000) * 10 * 3).toBeLessThan(20_000 * 0.9);
    expect(wakesPerSecond(256)).toBe(1);
    expect(wakesPerSecond(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  });

  it("says that it cannot for the moment, loses nobody, and sweeps as slowly as it has to", async () => {
    const loans = fleetOf(ACTORS);
    await deployLoan(server.url);
    // Now: workerd ends where it has no file left for a new connection.
    const opening = Array.from({ length: CLIENTS }, () => Connection.open(server.url));
    const connections = await Promise.all(opening);
    let refused = 0;
    for (let fleet = 0; fleet < FLEETS && refused === 0; fleet += 1) {
      // oxlint-disable-next-line no-await-in-loop -- until one is refused
      refused = await spawnAtOnce(`crowd-${fleet}`);
    }
    expect(refused, "there were files enough: nothing is shown").toBeGreaterThan(0);
    await untilServed(connections, loans, spawnOf, 201);
    await untilServed(connections, loans, liveOf, 200);
    for (const connection of connections) connection.close();
    await pause(2_000);

    const body = await deployBody();
    const deployed = await call<{ rule: { id: string } }>(
      server.url,
      "PUT",
      "/v1/definitions",
      body,
    );
    const { last } = await watchSweep(server.url, deployed.rule.id, server.serverPid);
    const matching = countOf(loans, "paid") + countOf(loans, "further on");
    expect(last.counts).toMatchObject({ migrated: matching, failed: 0, unmappable: 0 });
    await sleep(10_000);
    expect(await listed(server.url, loans)).toBe(matching);
  }, 240_000);
});
