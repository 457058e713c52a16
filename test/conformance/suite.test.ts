import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { wantedOf } from "./configuration.ts";
import type { Run } from "./configuration.ts";
import { convert } from "./convert/convert.ts";
import type { Converted } from "./convert/convert.ts";
import { DIFFERENCES } from "./differences.ts";
import { deployAll, runOnPerdure } from "./fleet.ts";
import { NotConverted } from "./convert/not-converted.ts";
import { withRandomSteps } from "./random-steps.ts";
import { runOnXState } from "./reference.ts";
import { readSuite } from "./suite.ts";

const suite = readSuite();
const charts: Converted[] = [];
/** Reasons by case. */
const skipped = new Map<string, string>();
for (const test of suite) {
  try {
    charts.push(convert(test));
  } catch (error) {
    if (!(error instanceof NotConverted)) throw error;
    skipped.set(test.name, error.message);
  }
}
const xstate = new Map(charts.map((chart) => [chart.name, runOnXState(chart)]));

/** About ten starts of a server, on a machine that does much else. */
const STARTS_MS = 600_000;

let persistTo: string;
let server: RunningServer;
let refused: Map<string, string>;
const host = { url: () => server.url, before: () => Promise.resolve() };

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-conformance-"));
  server = await startServer({ persistTo });
  refused = await deployAll(host, charts);
});

afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

/** A chart goes as SCXML says, or it is listed with the reason; and as XState goes, unless that is the reason. */
function expectConformance({ name, steps }: Converted, run: Run | undefined): void {
  const reference = xstate.get(name);
  const difference = DIFFERENCES[name];
  if (difference === undefined) {
    expect(reference).toEqual(wantedOf(steps, reference));
    expect(run).toEqual(wantedOf(steps, run));
  } else {
    expect(run).not.toEqual(wantedOf(steps, run));
  }
  if (difference?.whose !== "Perdure") expect(run).toEqual(reference);
}

describe("charts of the SCXML test framework", () => {
  it("are 130 and more that XState runs as SCXML says", () => {
    const passed = charts.filter(({ name, steps }) => {
      const run = xstate.get(name);
      return isDeepStrictEqual(run, wantedOf(steps, run));
    });
    expect(passed.length).toBeGreaterThanOrEqual(130);
  });

  it("are deployed without an error", () => {
    expect(Object.fromEntries(refused)).toEqual({});
  });

  it("are listed as different only if they are run", () => {
    const names = new Set(charts.map(({ name }) => name));
    expect(Object.keys(DIFFERENCES).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("undisturbed, over HTTP", () => {
  let runs: Map<string, Run>;
  beforeAll(async () => {
    runs = await runOnPerdure(host, charts, "calm");
  });
  it.each(charts.map((chart) => [chart.name, chart] as const))("%s", (name, chart) =>
    expectConformance(chart, runs.get(name)),
  );
});

/** As many as the longest script has, so that random steps need no kills of their own. */
const RANDOM_STEPS = Math.max(...charts.map(({ steps }) => steps.length)) - 1;
const seed = Number(process.env["PERDURE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** One in three, others with another seed. */
const varied = charts
  .filter((_, n) => (n + seed) % 3 === 0)
  .map((chart, n) => withRandomSteps(chart, RANDOM_STEPS, seed + n))
  .map((chart) => ({ ...chart, name: `${chart.name} at random` }));

describe("with the server killed before every event", () => {
  let runs: Map<string, Run>;
  beforeAll(async () => {
    const killed = {
      url: () => server.url,
      async before() {
        await server.kill();
        server = await startServer({ persistTo });
      },
    };
    runs = await runOnPerdure(killed, [...charts, ...varied], "killed");
  }, STARTS_MS);

  it.each(charts.map((chart) => [chart.name, chart] as const))("%s", (name, chart) =>
    expectConformance(chart, runs.get(name)),
  );

  it(`${varied.length} charts go where XState goes with events by chance (PERDURE_SEED=${seed})`, () => {
    const different = varied.flatMap((chart) => {
      const [ours, theirs] = [runs.get(chart.name), runOnXState(chart)];
      const alike =
        isDeepStrictEqual(ours?.configurations, theirs.configurations) &&
        // Each says in its own words why it went no further.
        (ours?.stopped === null) === (theirs.stopped === null);
      return alike ? [] : [{ chart: chart.name, steps: chart.steps, ours, theirs }];
    });
    expect(different).toEqual([]);
  });
});

describe("not converted", () => {
  it.skip.each([...skipped])("%s: %s", () => {});

  it("are counted by reason in docs/conformance.md, as are those that are run", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/conformance.md"), "utf8");
    const rows = [...page.matchAll(/^\| ([^|]+?) \| (\d+) \|/gm)];
    const told = Object.fromEntries(rows.map(([, what, count]) => [what, Number(count)]));
    const counts: Record<string, number> = {
      "charts with a script": suite.length,
      "converted and run": charts.length,
      "as SCXML says": charts.length - Object.keys(DIFFERENCES).length,
      "not converted": skipped.size,
    };
    for (const why of skipped.values()) counts[why] = (counts[why] ?? 0) + 1;
    expect(told).toEqual(counts);
  });
});
