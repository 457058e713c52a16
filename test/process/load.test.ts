import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFiles } from "../../bench/process-facts.ts";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { liveAs, workAs, wrongWithSleeper } from "./load/clients.ts";
import type { Run } from "./load/clients.ts";
import { Documented } from "./load/documented.ts";
import { ERRAND } from "./load/errand.ts";
import { growths, slower } from "./load/laws.ts";
import { Line } from "./load/line.ts";
import { Meter } from "./load/meter.ts";
import { Observed } from "./load/observed.ts";
import { Voice } from "./load/voice.ts";

/** `PERDURE_LOAD_SECONDS=600` by hand; `PERDURE_LOAD_SEED` throws the dice of another run again. */
const SECONDS = Number(process.env["PERDURE_LOAD_SECONDS"] ?? 25);
const SEED = Number(process.env["PERDURE_LOAD_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const CLIENTS = 64;
/** Of the clients: those who claim tasks. The others spawn. */
const WORKERS = 6;
/** Answers below which a run goes on, on a machine that is busy with something else; at most so many times as long. */
const LEAST_ANSWERS = 2_000;
const MOST_TIMES = 6;
/** ms until as many objects are awake as there will be: an idle one is kept for ten seconds. */
const WARM_MS = 12_000;
/** Factors from the first third to the last, and what memory and files may differ by in any case. */
const LAW = { latency: 2.5, memory: 1.4, megabytes: 40, files: 1.5, fewFiles: 100 };
/** ms in which an actor that was asked for may be awake: a minute later an alarm looks after it. */
const AWAKE_MS = 90_000;
const FILES_PER_ACTOR = 3;
/** Files of connections, and of shards, the registry and the queue. */
const OTHER_FILES = CLIENTS + 120;
/** ms after the last answer in which all but a few objects let go of their files. */
const RELEASE_MS = 90_000;

let folder: string;
let server: RunningServer;
let outside: Outside;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-load-"));
  server = await startServer({ persistTo: folder });
  outside = await startOutside();
});
afterAll(async () => {
  await server?.kill();
  outside?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** All clients at work, in a closed loop each, until the time is up; ms at which it was. */
async function load(run: Run, lines: readonly Line[]): Promise<number> {
  const { observed } = run;
  const last = new AbortController();
  const rest = new AbortController();
  const voices = lines.map((line) => new Voice(line, observed));
  const workers = voices
    .slice(0, WORKERS)
    .map((voice, n) => workAs(`worker-${n}`, voice, seeded(SEED + n), rest.signal));
  const lives = voices
    .slice(WORKERS)
    .map((voice, n) => liveAs(`life-${n}`, voice, run, seeded(SEED + 100 + n), last.signal));
  const seconds = () => (observed.answers > LEAST_ANSWERS ? SECONDS : SECONDS * MOST_TIMES);
  const timeIsUp = until(
    () => observed.now > seconds() * 1_000,
    (up) => up,
    SECONDS * (MOST_TIMES + 1) * 1_000,
  );
  // Whatever fails ends the run.
  await Promise.race([timeIsUp, Promise.all([...lives, ...workers])]);
  const end = observed.now;
  last.abort();
  await Promise.all(lives).finally(() => rest.abort());
  await Promise.all(workers);
  return end;
}

// Where the kernel tells nobody which files a process has open, nothing could be counted.
describe.skipIf(!existsSync("/proc/self/fd"))(
  `${CLIENTS} clients who ask for all kinds of things`,
  () => {
    it(
      `grow neither memory nor files nor latency, and hear nothing that is not documented, ${SECONDS} s with the seed ${SEED}`,
      async () => {
        const observed = new Observed(await Documented.of(server.url));
        const run: Run = { observed, outside, asleep: new Map(), lives: 0 };
        const lines = Array.from({ length: CLIENTS }, () => new Line(server.url));
        const voice = new Voice(new Line(server.url), observed);
        const errand = { id: "errand-v1", definition: ERRAND };
        await voice.say("deploy", "PUT", "/v1/definitions", { body: errand });
        const before = openFiles(server.serverPid) as number;
        // Each client may have woken one that it has not heard of yet.
        const awake = () => observed.touchedIn(AWAKE_MS) + CLIENTS;
        const allowed = () => FILES_PER_ACTOR * awake() + OTHER_FILES;
        const meter = new Meter(server.serverPid, observed, allowed);
        const end = await load(run, lines).finally(() => meter.stop());
        for (const line of lines) line.close();
        const few = before + LAW.fewFiles;
        const released = await until(
          async () => openFiles(server.serverPid) as number,
          (files) => files < few,
          RELEASE_MS,
        );
        for (const [id, acknowledged] of run.asleep) {
          observed.wrong.push(...(await wrongWithSleeper(id, acknowledged, voice)));
        }

        const memory = meter.memory(WARM_MS, end);
        const files = meter.files(WARM_MS, end);
        const growth = growths(observed.took, WARM_MS, end);
        const report = {
          seed: SEED,
          seconds: Math.round(end / 1_000),
          answers: observed.answers,
          lives: run.lives,
          asleep: run.asleep.size,
          refused: Object.fromEntries(observed.refused),
          resent: lines.reduce((sum, { resent }) => sum + resent, 0),
          memory,
          files: { ...files, released },
          growth: Object.fromEntries(
            [...growth].map(([kind, factor]) => [kind, +factor.toFixed(2)]),
          ),
          medianMs: observed.medians(),
        };
        // oxlint-disable-next-line no-console
        console.log(`${CLIENTS} clients: ${JSON.stringify(report)}`);
        expect(observed.wrong).toEqual([]);
        expect(run.lives, "too few lives: nothing is shown").toBeGreaterThan(CLIENTS / 2);
        expect(growth.size, "too few answers: nothing is shown").toBeGreaterThan(2);
        expect(slower(growth, "health", LAW.latency), JSON.stringify(report)).toEqual([]);
        expect(memory.last).toBeLessThan(memory.first * LAW.memory + LAW.megabytes);
        expect(files.last).toBeLessThan(files.first * LAW.files + LAW.fewFiles);
        expect(meter.filesBeyond, "files of actors that nobody asks for").toBeLessThanOrEqual(0);
        expect(released, "objects that nobody asks for are awake").toBeLessThan(few);
      },
      SECONDS * MOST_TIMES * 1_000 + RELEASE_MS + 240_000,
    );
  },
);
