import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { bareObject } from "../../bench/bare/target.ts";
import { Connection, wireRequest } from "../../bench/connection.ts";
import { COUNTED } from "../../bench/counted.ts";
import type { Step, StepName } from "../../bench/counted.ts";
import type { Figures } from "../../bench/fleet/serve.ts";
import { events, mixed } from "../../bench/measure.ts";
import { median, quantile } from "../../bench/statistics.ts";
import { ROOT } from "../house/sources.ts";
import { runQuickly } from "../support/quick-bench.ts";

/** The steps of docs/cost.md and which lines of the table they are: two lines for each step. */
const STEP_LINES = { spawn: 0, changing: 2, unchanged: 6 } as const;

/** Billed figures only: calls, alarms, rows written, alarms set, of actor and directory. */
function figuresOf(lines: readonly string[]): object {
  const numbers = (line = "") => line.split(/ +/).slice(-5, -1).map(Number);
  return Object.fromEntries(
    Object.entries(STEP_LINES).map(([step, at]) => [
      step,
      [numbers(lines[at]), numbers(lines[at + 1])],
    ]),
  );
}

function figuresCounted(steps: Record<StepName, Step>): object {
  const numbers = ({ requests, alarms, rowsWritten, alarmsSet }: Figures) => [
    requests,
    alarms,
    rowsWritten,
    alarmsSet,
  ];
  return Object.fromEntries(
    Object.entries(steps).map(([step, { actor, directory }]) => [
      step,
      [numbers(actor), numbers(directory)],
    ]),
  );
}

const LOAD = { clients: 2, limitMs: Number.POSITIVE_INFINITY };

const quickly = (...options: string[]) => runQuickly("bench/run.ts", ...options);

describe("the benchmark", () => {
  it("measures all servers, prints every table and leaves nothing behind", () => {
    const stdout = quickly("--only", "rates", "--instances", "6", "--clients", "2");
    const rate = String.raw`\d+ +\(\d+–\d+\)`;
    const times = String.raw`[\d.]+ +[\d.]+ +[\d.]+ +\d+ %`;
    for (const mode of ["Mixed", "Phased", "Creates", "Ceiling"]) {
      const ratio = String.raw`[\d.]+ +\([\d.]+–[\d.]+\)`;
      const perdure = String.raw` +2 +Perdure +${rate} +${ratio} +${times}`;
      const alone = String.raw` +no directory +${rate} +${ratio} +${times}`;
      const bare = String.raw` +bare object +${rate} +${times}`;
      expect(stdout).toMatch(new RegExp(`^${mode}:.*\n.*\n${perdure}\n${alone}\n${bare}$`, "m"));
    }
    expect(stdout).toMatch(/^1 round; /m);
    expect(stdout).toMatch(/^With the directory, of the rate without\n.*\n +2 +[\d.]+ /m);
    expect(stdout).toMatch(/closed the connection: Perdure \d+; no directory \d+; bare object \d+/);
  });

  it("counts what docs/cost.md computes from", () => {
    const stdout = quickly("--only", "counts");
    const [close = [], apart = []] = [...stdout.matchAll(/^Steps .*\n((?: {2}.*\n)+)/gm)].map(
      ([, rows = ""]) => rows.trimEnd().split("\n").slice(1),
    );
    expect(figuresOf(close)).toEqual(figuresCounted(COUNTED.close));
    expect(figuresOf(apart)).toEqual(figuresCounted(COUNTED.apart));
    const bytes = /(\d+) after 20$/m.exec(stdout)?.[1];
    expect(Number(bytes)).toBe(COUNTED.bytes.actor);
  });

  it("times pages of a seeded directory and finds on each what was seeded", () => {
    const stdout = quickly("--only", "lists", "--entries", "1000");
    expect(stdout).toMatch(/^1000 entries, put through the 16 shards' own `put`/m);
    const figures = String.raw`\d+\.\d +\d+\.\d +\d+\.\d +\d+ +\d+\.\d$`;
    for (const kind of ["no filter", "status", "tag", "attention", "no filter, 500 deep"]) {
      const row = new RegExp(`^ +[18]? +${kind}( \\(.*\\))? +50 +${figures}`, "gm");
      expect(stdout.match(row), kind).toHaveLength(2);
    }
    expect(stdout).toMatch(/^Bytes of the directory's databases per entry: \d+$/m);
  });

  it("times calls that events start, and each has its result", () => {
    const stdout = quickly("--only", "activities");
    expect(stdout).toMatch(/^5 actors, .* 5 of them had its result at the end$/m);
    const figures = String.raw`-?\d+\.\d\d +-?\d+\.\d\d +-?\d+\.\d\d$`;
    for (const what of ["its call reaches the service", "the call, beyond the answer"]) {
      expect(stdout).toMatch(new RegExp(`^ +${what} +${figures}`, "m"));
    }
    expect(stdout).toMatch(/^From commit to call, p50: -?[\d.]+ ms \(goal 5 ms\)$/m);
  });

  it("refuses options that it does not know", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, "bench/run.ts"), "--clients", "1,none"],
      { encoding: "utf8" },
    );
    expect(status).toBe(1);
    expect(stderr).toContain("--clients none is not a whole number from 1 to 1000");
  });
});

describe("its client", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** Gives each request, in the order in which they come, one of `answers` as a text on the wire. */
  function serve(answer: (request: number) => string[]): Promise<string> {
    let requests = 0;
    const created = createServer((socket) => {
      socket.on("data", () => {
        void (async () => {
          for (const part of answer(requests++)) {
            socket.write(part);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        })();
      });
    });
    server = created;
    return new Promise((resolve) => {
      created.listen(0, "127.0.0.1", () => {
        resolve(`http://127.0.0.1:${(created.address() as AddressInfo).port}`);
      });
    });
  }

  const wire = (status: number, body: string) =>
    `HTTP/1.1 ${status} Any\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  it("puts an answer together that comes in pieces", async () => {
    const [head = "", body = ""] = wire(201, '{"name":"Zoë"}').split("ë");
    const url = await serve(() => [`${head.slice(0, 9)}`, head.slice(9), `ë${body}`]);
    const connection = await Connection.open(url);
    const answer = await connection.request(wireRequest("GET", "/", {}));
    connection.close();
    expect(answer).toEqual({ status: 201, body: '{"name":"Zoë"}' });
  });

  it("ends the run at the first wrong answer", async () => {
    const url = await serve((request) => [
      wire(request === 0 ? 201 : 200, `{"id":"one","seq":${request === 2 ? 7 : request + 1}}`),
    ]);
    const running = { url, pid: process.pid, end: async () => {} };
    await expect(mixed(bareObject, running, { ...LOAD, clients: 1 }, ["one"])).rejects.toThrow(
      'Wrong answer: 200 {"id":"one","seq":7}\nThis was to come: 200 {"id":"one","seq":3}',
    );
  });

  it("sends a request again when the server closes the connection instead of answering", async () => {
    let connections = 0;
    const url = await serve(() => (connections === 3 ? [wire(200, "{}")] : []));
    server?.on("connection", (socket) => {
      connections += 1;
      if (connections < 3) socket.on("data", () => socket.destroy());
    });
    const connection = await Connection.open(url);
    const answer = await connection.request(wireRequest("GET", "/", {}));
    connection.close();
    expect({ answer, resent: connection.resent }).toEqual({
      answer: { status: 200, body: "{}" },
      resent: 2,
    });
  });

  it("ends the run when five connections are lost in a row", async () => {
    const url = await serve(() => []);
    let connections = 0;
    server?.on("connection", (socket) => {
      connections += 1;
      socket.on("data", () => socket.destroy());
    });
    const running = { url, pid: process.pid, end: async () => {} };
    await expect(
      events(bareObject, running, { ...LOAD, clients: 1 }, ["one", "two"]),
    ).rejects.toThrow(/^No answer after \d+ ms: the server closed the connection$/);
    expect(connections).toBe(5);
  });
});

describe("its statistics", () => {
  it("take the middle, and the nearest value that a share lies below", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(hundred, 0.5)).toBe(50);
    expect(quantile(hundred, 0.99)).toBe(99);
    expect(quantile([7], 0.99)).toBe(7);
  });
});
