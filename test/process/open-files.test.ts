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

/** So few that some 200 actors may be awake at once. */
const OPEN_FILES = 800;
const ACTORS = 400;
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

/** Sends each its request until it is answered otherwise than by a 503; how many of those came. */
async function untilServed(
  loans: readonly Loan[],
  request: (loan: Loan) => string,
  expected: number,
): Promise<number> {
  let unavailable = 0;
  const expect503 = ({ body }: Answer) =>
    expect(JSON.parse(body)).toMatchObject({ code: "unavailable", retryable: true });
  let next = 0;
  const work = async (): Promise<void> => {
    const connection = await Connection.open(server.url);
    for (let loan = loans[next++]; loan; loan = loans[next++]) {
      for (let attempt = 0; ; attempt += 1) {
        const answer = await connection.request(request(loan));
        if (answer.status === expected) break;
        expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 503 });
        expect503(answer);
        expect(attempt).toBeLessThan(ATTEMPTS);
        unavailable += 1;
        await sleep(AGAIN_MS);
      }
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  return unavailable;
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
    const unavailable = await untilServed(loans, spawnOf, 201);
    expect(unavailable, "there were files enough: nothing is shown").toBeGreaterThan(0);
    await untilServed(loans, liveOf, 200);
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
