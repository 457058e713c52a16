import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { notThereOnce } from "./crash/check.ts";
import { assign, value } from "./crash/template.ts";
import { Documented } from "./load/documented.ts";
import { leastShare, median, outOfOrder } from "./load/laws.ts";
import type { Written } from "./load/laws.ts";
import { Line } from "./load/line.ts";
import { Observed } from "./load/observed.ts";
import { Voice } from "./load/voice.ts";

/** Each on a connection of its own, with one request under way at a time. */
const WRITERS = 64;
/** Events in all. `PERDURE_HOT_EVENTS=100000` by hand. */
const EVENTS = Number(process.env["PERDURE_HOT_EVENTS"] ?? 3_200);
const TASKS = EVENTS / 16;
/** Records of each writer in a window in which shares are counted, were they all the same. */
const WINDOW = 20;
/** The least part of an even share that anybody gets: of a queue, or of an actor in any window. */
const SHARE = 0.25;
/** ms; only a hang gets there. */
const PATIENCE_MS = 300_000;
/** What the slowest of a thousand answers may take: so many times the median, and ms besides in which the machine does something else. */
const SLOWEST = { times: 10, elsewhereMs: 5_000 };

/** `SET` writes what somebody has read and thought about. */
const COUNTER = {
  id: "counter",
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: assign({ n: value("context.n + 1") }) },
        SET: { actions: assign({ n: value("event.n") }) },
      },
    },
  },
};

const JOBBER = {
  id: "jobber",
  initial: "working",
  context: { by: null },
  states: {
    working: {
      invoke: {
        id: "work",
        src: "task",
        input: { queue: "hot", leaseMs: 120_000 },
        onDone: { target: "done", actions: assign({ by: value("event.output.by") }) },
      },
    },
    done: { type: "final" },
  },
};

interface Wrote extends Written {
  key: string;
  writer: number;
}

let folder: string;
let server: RunningServer;
let observed: Observed;
let lines: Line[];
let voices: Voice[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-hot-"));
  server = await startServer({ persistTo: folder });
});
afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  observed = new Observed(await Documented.of(server.url));
  lines = Array.from({ length: WRITERS }, () => new Line(server.url));
  voices = lines.map((line) => new Voice(line, observed));
});
afterEach(() => {
  for (const line of lines) line.close();
  expect(observed.wrong).toEqual([]);
});

async function spawned(definition: { id: string }, id: string): Promise<string> {
  const [voice] = voices as [Voice];
  const body = { id: `${definition.id}-v1`, definition };
  await voice.say("deploy", "PUT", "/v1/definitions", { body });
  const spawn = { definitionId: `${definition.id}-v1`, id };
  expect((await voice.say("spawn", "POST", "/v1/actors", { key: id, body: spawn })).status).toBe(
    201,
  );
  return `/v1/actors/${id}`;
}

/** All records, of which an actor may have many pages. */
async function logOf(path: string): Promise<{ seq: number; key: string | null }[]> {
  const [voice] = voices as [Voice];
  const log: { seq: number; key: string | null }[] = [];
  for (let after: number | undefined = 0; after !== undefined; after = log.at(-1)?.seq) {
    const { body } = await voice.say("log", "GET", `${path}/events?limit=200&after=${after}`);
    log.push(...body.items);
    if (body.items.length === 0) break;
  }
  return log;
}

/** What must hold of all who wrote, whatever they wrote. */
function expectOrder(wrote: readonly Wrote[], first: number): void {
  const seqs = wrote.map(({ seq }) => seq).toSorted((a, b) => a - b);
  expect(seqs).toEqual(Array.from({ length: wrote.length }, (_, n) => first + n));
  expect(outOfOrder(wrote)).toBeNull();
}

describe(`one actor with ${WRITERS} writers`, () => {
  it(
    "takes all of their events once, in an order that fits the answers, and keeps nobody waiting",
    async () => {
      const path = await spawned(COUNTER, "added");
      const wrote: Wrote[] = [];
      let left = EVENTS;
      await Promise.all(
        voices.map(async (voice, writer) => {
          for (let count = 0; left > 0; count += 1) {
            left -= 1;
            const key = `w${writer}-${count}`;
            const ask = { key, body: { type: "ADD" } };
            const { body, sentAt, answeredAt } = await voice.say(
              "event",
              "POST",
              `${path}/events`,
              ask,
            );
            wrote.push({ seq: body.seq, sentAt, answeredAt, key, writer });
          }
        }),
      );

      expectOrder(wrote, 2);
      const [voice] = voices as [Voice];
      const { body: actor } = await voice.say("read", "GET", path);
      expect(actor).toMatchObject({ seq: EVENTS + 1, context: { n: EVENTS } });
      const log = await logOf(path);
      expect(log).toHaveLength(EVENTS + 1);
      expect(notThereOnce(log, wrote)).toEqual([]);

      const writers = wrote.toSorted((a, b) => a.seq - b.seq).map(({ writer }) => writer);
      const shares: number[] = [];
      for (let from = 0; from + WRITERS * WINDOW <= writers.length; from += WRITERS * WINDOW) {
        shares.push(leastShare(writers.slice(from, from + WRITERS * WINDOW), WRITERS));
      }
      expect(shares.length, "too few windows: nothing is shown").toBeGreaterThan(1);
      const took = wrote.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
      const slowest = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.999)] as number;
      // oxlint-disable-next-line no-console
      console.log(
        `one hot actor: ${JSON.stringify({ events: EVENTS, shares, slowest, median: median(took) })}`,
      );
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(SHARE);
      expect(slowest).toBeLessThan(median(took) * SLOWEST.times + SLOWEST.elsewhereMs);
    },
    PATIENCE_MS,
  );

  it(
    "with If-Match loses no update of those who read, think and write",
    async () => {
      const path = await spawned(COUNTER, "set");
      const wrote: Wrote[] = [];
      let refused = 0;
      let left = EVENTS;
      await Promise.all(
        voices.map(async (voice, writer) => {
          for (let count = 0; left > 0; count += 1) {
            left -= 1;
            const { body: seen } = await voice.say("read", "GET", path);
            const key = `w${writer}-${count}`;
            const body = { type: "SET", payload: { n: seen.context.n + 1 } };
            const ask = { key, ifMatch: seen.seq, body };
            const reply = await voice.say("event", "POST", `${path}/events`, ask, ["seq_mismatch"]);
            if (reply.status === 412) refused += 1;
            else {
              // Nobody came between the reading and the writing.
              expect(reply.body.seq).toBe(seen.seq + 1);
              wrote.push({ ...reply, seq: reply.body.seq, key, writer });
            }
          }
        }),
      );

      expectOrder(wrote, 2);
      const [voice] = voices as [Voice];
      const { body: actor } = await voice.say("read", "GET", path);
      expect(actor).toMatchObject({ seq: wrote.length + 1, context: { n: wrote.length } });
      expect(notThereOnce(await logOf(path), wrote)).toEqual([]);
      // oxlint-disable-next-line no-console
      console.log(`one hot actor, If-Match: ${JSON.stringify({ taken: wrote.length, refused })}`);
      expect(refused, "nobody met anybody: nothing is shown").toBeGreaterThan(WRITERS);
      // Who is refused was overtaken: of all who try at once, one gets through.
      expect(wrote.length).toBeGreaterThan(EVENTS / WRITERS / 2);
    },
    PATIENCE_MS,
  );
});

describe(`one queue with ${WRITERS} claimers`, () => {
  it(
    "hands out each task once, and to everybody his share",
    async () => {
      const path = await spawned(JOBBER, "jobber-0");
      const claims: { id: string; claimer: number }[] = [];
      const busy = voices.slice(1).map(async (voice, claimer) => {
        while (claims.length < TASKS) {
          const claim = { worker: `c${claimer}`, waitMs: 3_000 };
          const { body } = await voice.say("claim", "POST", "/v1/queues/hot/claim", {
            body: claim,
          });
          for (const { id, attempts, leaseToken } of body.tasks) {
            expect(attempts).toBe(1);
            claims.push({ id, claimer });
            const complete = { leaseToken, output: { by: claimer } };
            const place = `/v1/tasks/${encodeURIComponent(id)}/complete`;
            await voice.say("complete", "POST", place, { key: id, body: complete });
          }
        }
      });
      const [voice] = voices as [Voice];
      const ids = Array.from({ length: TASKS - 1 }, (_, n) => ({
        definitionId: "jobber-v1",
        id: `jobber-${n + 1}`,
      }));
      for (let from = 0; from < ids.length; from += 100) {
        const body = { actors: ids.slice(from, from + 100) };
        await voice.say("bulk", "POST", "/v1/actors/bulk", { key: `bulk-${from}`, body });
      }
      await Promise.all(busy);

      expect(claims).toHaveLength(TASKS);
      expect(new Set(claims.map(({ id }) => id)).size).toBe(TASKS);
      const done = await until(
        async () =>
          (await voice.say("count", "GET", "/v1/actors/count?family=jobber&status=done")).body
            .total,
        (count) => count === TASKS,
      );
      expect(done).toBe(TASKS);
      const { body: actor } = await voice.say("read", "GET", path);
      const { id = "", claimer = -1 } =
        claims.find(({ id: task }) => task.includes(actor.uid)) ?? {};
      expect(id).toContain("hot.");
      expect(actor.context).toEqual({ by: claimer });
      const turns = claims.map((claim) => claim.claimer);
      const share = leastShare(turns, WRITERS - 1);
      // oxlint-disable-next-line no-console
      console.log(`one hot queue: ${JSON.stringify({ tasks: TASKS, share })}`);
      expect(share).toBeGreaterThanOrEqual(SHARE);
    },
    PATIENCE_MS,
  );
});
