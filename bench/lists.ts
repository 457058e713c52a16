import type { Entry } from "../src/directory/rpc.ts";
import { wireRequest } from "./connection.ts";
import { entries as fleetEntries } from "./fleet/entries.ts";
import { serveFleet } from "./fleet/serve.ts";
import type { Fleet } from "./fleet/serve.ts";
import type { Lab } from "./lab.ts";
import { inTurn } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { HEADERS } from "./perdure.ts";
import { cpuSeconds } from "./process-facts.ts";
import { progress } from "./progress.ts";
import { median, quantile } from "./statistics.ts";
import { WrongAnswer } from "./target.ts";
import { orDash, table } from "./table.ts";

const PAGE = 50;
const LONG_PAGE = 200;
const SEEDED_AT_ONCE = 500;
const SEEDERS = 4;
const CLIENTS = [1, 8];
const DAY_MS = 86_400_000;
const GOAL_MS = 50;
/** Lists of each kind in a row, whose processor time is read: the clock of that ticks every 10 ms. */
const WORK_TIMES = 50;

/** One kind of list: its query, and what it is to find. */
interface Kind {
  name: string;
  query: string;
  limit: number;
  /** Ids of the page. */
  page: string[];
}

/** How long a page of actors takes over real HTTP, in a directory seeded through its shards: the result as text. */
export async function lists(lab: Lab, options: BenchOptions): Promise<string> {
  return serveFleet(lab, async (fleet) => {
    const seeded = fleetEntries(options.entries, Date.now());
    const shards = await seed(fleet, seeded);
    const { directory } = await fleet.bytes([]);
    const kinds = await allKinds(fleet, seeded, options.entries);
    const work = await workPerPage(fleet, kinds, Math.min(options.lists, WORK_TIMES));
    const rows: string[][] = [];
    const worst: number[] = [];
    for (const clients of CLIENTS) {
      const times = await timeAll(fleet, kinds, options.lists, clients);
      for (const [index, { name, limit }] of kinds.entries()) {
        const taken = times[index] ?? [];
        if (clients === 1 && limit === PAGE) worst.push(quantile(taken, 0.95));
        const [p50, p95, most] = [median(taken), quantile(taken, 0.95), Math.max(...taken)];
        const figures = [p50, p95, most].map((ms) => ms.toFixed(1));
        rows.push([
          index === 0 ? String(clients) : "",
          name,
          String(limit),
          ...figures,
          work[index]?.rows ?? "",
          work[index]?.cpuMs ?? "",
        ]);
      }
    }
    const header = [
      "clients",
      "list",
      "limit",
      "p50 ms",
      "p95 ms",
      "most ms",
      "rows read",
      "CPU ms",
    ];
    const slowest = Math.max(...worst).toFixed(1);
    return [
      `${options.entries} entries, put through the ${shards} shards' own \`put\` by a Worker of the bench; ${options.lists} lists of each kind, kinds by turns; every page is compared with what was seeded`,
      table([header, ...rows], [1]),
      `Slowest p95 of a page of ${PAGE} with one client: ${slowest} ms (goal ${GOAL_MS} ms at 100,000 entries)`,
      `Bytes of the directory's databases per entry: ${(directory / options.entries).toFixed(0)}`,
    ].join("\n\n");
  });
}

async function seed(fleet: Fleet, seeded: readonly Entry[]): Promise<number> {
  let next = 0;
  let shards = 0;
  const one = async () => {
    while (next < seeded.length) {
      const from = next;
      next += SEEDED_AT_ONCE;
      ({ shards } = await fleet.seed(seeded.slice(from, next)));
      progress(`seeded ${Math.min(next, seeded.length)} of ${seeded.length} entries`);
    }
  };
  await Promise.all(Array.from({ length: SEEDERS }, one));
  progress("");
  return shards;
}

async function allKinds(fleet: Fleet, seeded: readonly Entry[], count: number): Promise<Kind[]> {
  const youngestFirst = seeded.toReversed();
  const dayAgo = new Date(Date.now() - DAY_MS).toISOString();
  const kind = (
    name: string,
    query: string,
    fits: (entry: Entry) => boolean,
    limit = PAGE,
  ): Kind => {
    const found = youngestFirst.filter(fits);
    const share = ((found.length / count) * 100).toFixed(found.length * 100 < count ? 1 : 0);
    return {
      name: `${name} (${share} %)`,
      query: `limit=${limit}${query === "" ? "" : `&${query}`}`,
      limit,
      page: found.slice(0, limit).map(({ id }) => id),
    };
  };
  const isApproved = ({ stateValue }: Entry) => stateValue === "approved";
  const everything = () => true;
  const halfway = await deepCursor(fleet, youngestFirst, count >> 1);
  return [
    kind("no filter", "", everything),
    kind("status", "status=done", ({ status }) => status === "done"),
    kind(
      "definition, state",
      "definitionId=loan-v3&state=second_review",
      (entry) => entry.definitionId === "loan-v3" && entry.stateValue === "second_review",
    ),
    kind("tag", "tag=waiting-for-bank", ({ tags }) => tags.includes("waiting-for-bank")),
    kind("attention", "attention=true", ({ attention }) => attention.length > 0),
    kind(
      "updated in a day",
      `updatedAfter=${dayAgo}`,
      ({ updatedAt }) => updatedAt > Date.parse(dayAgo),
    ),
    kind(
      "updated in a day, state",
      `updatedAfter=${dayAgo}&state=approved`,
      (entry) => isApproved(entry) && entry.updatedAt > Date.parse(dayAgo),
    ),
    kind("nothing fits", "tag=nowhere", () => false),
    kind("no filter, long", "", everything, LONG_PAGE),
    {
      name: `no filter, ${count >> 1} deep`,
      query: `limit=${PAGE}&cursor=${encodeURIComponent(halfway)}`,
      limit: PAGE,
      page: youngestFirst.slice(count >> 1, (count >> 1) + PAGE).map(({ id }) => id),
    },
  ];
}

/** Pages through the first `depth` entries, each of which must come in its place, and answers the cursor behind them. */
async function deepCursor(
  fleet: Fleet,
  youngestFirst: readonly Entry[],
  depth: number,
): Promise<string> {
  let cursor = "";
  for (let at = 0; at < depth;) {
    const limit = Math.min(LONG_PAGE, depth - at);
    const query = `limit=${limit}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const response = await fetch(`${fleet.url}/v1/actors?${query}`, { headers: HEADERS });
    const expected = youngestFirst.slice(at, at + limit).map(({ id }) => id);
    cursor = checkPage(response.status, await response.text(), expected) ?? "";
    at += limit;
    progress(`paged through ${at} of ${depth} entries`);
  }
  progress("");
  return cursor;
}

/** `times` lists of each kind in milliseconds; kinds take turns, so that a slow second falls on all of them. */
async function timeAll(
  fleet: Fleet,
  kinds: readonly Kind[],
  times: number,
  clients: number,
): Promise<number[][]> {
  const taken: number[][] = kinds.map(() => []);
  const turns = Array.from({ length: times * kinds.length }, (_, turn) =>
    String(turn % kinds.length),
  );
  const load = { clients, limitMs: Number.POSITIVE_INFINITY };
  await inTurn(fleet, load, turns, async (connection, turn) => {
    const kind = kinds[Number(turn)];
    if (kind === undefined) return;
    const from = performance.now();
    const { status, body } = await connection.request(
      wireRequest("GET", `/v1/actors?${kind.query}`, HEADERS),
    );
    taken[Number(turn)]?.push(performance.now() - from);
    checkPage(status, body, kind.page);
  });
  return taken;
}

/** Work of one page of each kind: rows that all shards together read, and ms of workerd's processor time. */
async function workPerPage(
  fleet: Fleet,
  kinds: readonly Kind[],
  times: number,
): Promise<{ rows: string; cpuMs: string }[]> {
  await fleet.counting(true);
  const work: { rows: string; cpuMs: string }[] = [];
  for (const { query, page } of kinds) {
    const before = await fleet.figures();
    const cpuBefore = cpuSeconds(fleet.pid) ?? NaN;
    for (let time = 0; time < times; time++) {
      const response = await fetch(`${fleet.url}/v1/actors?${query}`, { headers: HEADERS });
      checkPage(response.status, await response.text(), page);
    }
    const cpuAfter = cpuSeconds(fleet.pid) ?? NaN;
    const after = await fleet.figures();
    const rows = (after.directory.rowsRead - before.directory.rowsRead) / times;
    const cpuMs = orDash(((cpuAfter - cpuBefore) * 1_000) / times, 1);
    work.push({ rows: rows.toFixed(0), cpuMs });
  }
  await fleet.counting(false);
  return work;
}

/** Answers the cursor of the next page. */
function checkPage(status: number, body: string, expected: readonly string[]): string | null {
  if (status === 200) {
    const { items, nextCursor } = JSON.parse(body) as {
      items: { id: string }[];
      nextCursor: string | null;
    };
    if (items.length === expected.length && items.every(({ id }, at) => id === expected[at]))
      return nextCursor;
  }
  throw new WrongAnswer(
    `Wrong answer: ${status} ${body.slice(0, 500)}\nThis was to come: ${expected.slice(0, 5).join(", ")} …, ${expected.length} in all`,
  );
}
