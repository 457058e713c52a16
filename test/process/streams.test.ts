import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { LogRecord } from "../../src/sdk/index.ts";
import { untilTrue } from "../support/until.ts";
import { call } from "./client.ts";
import { byEvents, bySocket, bySubscription } from "./stream-clients.ts";
import type { Seen } from "./stream-clients.ts";

/** Moves by events, by timers, and not at all. */
const blinker = {
  id: "blinker",
  initial: "off",
  on: { END: ".end" },
  states: {
    off: { on: { BLINK: "on" } },
    on: { after: { "25": "off" } },
    end: { type: "final" },
  },
};

let folder: string;
let server: RunningServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-streams-"));
  server = await startServer({ persistTo: join(folder, "data") });
  await call(server.url, "PUT", "/v1/definitions", { id: "blinker-v1", definition: blinker });
});

afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function spawned(id: string): Promise<void> {
  const answer = await call(server.url, "POST", "/v1/actors", { definitionId: "blinker-v1", id });
  expect(answer.status).toBe(201);
}

/** Numbers between 0 and 1 that a seed gives again (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("clients that are cut off at random, kills of the server included, see each record once and in order", async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
  const random = randomOf(seed);
  const patience = () => 5 + random() * random() * 600;
  const { url } = server;
  const port = Number(new URL(url).port);
  const ids = ["one", "two"];
  for (const id of ids) await spawned(id);
  const reading = ids.flatMap((id) =>
    [byEvents, bySocket, bySubscription].map(async (read): Promise<[string, Seen]> => [
      id,
      await read(url, id, patience),
    ]),
  );

  const client = createClient({
    baseUrl: url,
    apiKey: "dev",
    retry: { attempts: 100, baseMs: 20, maxMs: 500 },
  });
  const writing = ids.map(async (id) => {
    for (let n = 0; n < 150; n += 1) {
      await client.sendEvent(id, "BLINK");
      await pause(random() * 60);
    }
  });
  for (let kills = 0; kills < 3; kills += 1) {
    await pause(1000 + random() * 1000);
    await server.kill();
    server = await startServer({ persistTo: join(folder, "data"), port });
  }
  await Promise.all(writing);
  for (const id of ids) await client.sendEvent(id, "END");

  const logs = new Map<string, LogRecord[]>();
  for (const id of ids) {
    const log: LogRecord[] = [];
    for await (const record of client.events(id, { limit: 200 })) log.push(record);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(new Set(log.map(({ kind }) => kind))).toEqual(new Set(["spawned", "event", "timer"]));
    logs.set(id, log);
  }
  for (const [id, { kind, records, connections }] of await Promise.all(reading)) {
    expect(records, `${kind} of ${id}, seed ${seed}`).toEqual(logs.get(id));
    expect(connections, kind).toBeGreaterThan(5);
  }
});

/** An object that is awake holds its database open; only Linux shows which files a process holds. */
function openActors(): number {
  const files = `/proc/${server.serverPid}/fd`;
  return readdirSync(files).filter((file) => {
    try {
      return /\/ActorObject[^/]*\/[0-9a-f]{64}\.sqlite$/.test(readlinkSync(join(files, file)));
    } catch {
      return false;
    }
  }).length;
}

test.runIf(process.platform === "linux")(
  "streams that nothing comes through let their actor sleep, and deliver the record that wakes it",
  async () => {
    const { url } = server;
    await spawned("sleeper");
    const { body } = await call(url, "POST", "/v1/actors/sleeper/stream-token");
    const client = createClient({ baseUrl: url, apiKey: "dev" });
    const events = client.subscribe("sleeper", { after: 1 })[Symbol.asyncIterator]();
    const path = `${url.replace("http", "ws")}/v1/actors/sleeper/stream?token=${body["token"]}`;
    const socket = new WebSocket(path);
    const heard: string[] = [];
    let closed: { code: number; wasClean: boolean } | null = null;
    socket.addEventListener("message", ({ data }) => heard.push(data));
    socket.addEventListener("close", ({ code, wasClean }) => (closed = { code, wasClean }));
    await client.sendEvent("sleeper", "UNKNOWN");
    expect((await events.next()).value.seq).toBe(2);
    const next = events.next();
    expect(openActors()).toBe(1);

    for (let sleeps = 1; sleeps <= 2; sleeps += 1) {
      await untilTrue(() => openActors() === 0);
      // Pings are answered without it.
      const pongs = heard.length + 1;
      socket.send("ping");
      await untilTrue(() => heard.length === pongs);
      expect(heard.at(-1)).toBe("pong");
      expect(openActors()).toBe(0);
      if (sleeps === 2) break;
      await client.sendEvent("sleeper", "UNKNOWN");
      expect((await next).value.seq).toBe(3);
      await untilTrue(() => heard.length === pongs + 1);
      expect(JSON.parse(heard.at(-1) as string).seq).toBe(3);
    }
    socket.close(1000);
    await untilTrue(() => closed !== null);
    expect(closed).toEqual({ code: 1000, wasClean: true });
    await events.return?.();
    await client.sendEvent("sleeper", "UNKNOWN");
    expect(server.said()).not.toMatch(/error|exception/i);
  },
);

test("a stream that the server ends is closed at once, also while its actor is busy", async () => {
  const { url } = server;
  await spawned("busy");
  const client = createClient({ baseUrl: url, apiKey: "dev" });
  const { token } = await client.streamToken("busy");
  const closed: { code: number; wasClean: boolean }[] = [];
  for (let n = 0; n < 5; n += 1) {
    const path = `${url.replace("http", "ws")}/v1/actors/busy/stream?token=${token}`;
    const socket = new WebSocket(path);
    socket.addEventListener("close", ({ code, wasClean }) => closed.push({ code, wasClean }));
    await new Promise((open) => socket.addEventListener("open", open));
  }
  await client.deleteActor("busy");
  await spawned("busy");
  // The object never sleeps meanwhile; it would do so after 10 s.
  for (let round = 0; closed.length < 5; round += 1) {
    if (round > 400) throw new Error("They were never closed");
    await client.sendEvent("busy", "UNKNOWN");
    await pause(50);
  }
  expect(closed).toEqual(closed.map(() => ({ code: 4410, wasClean: true })));
});

/** What docs/streams.md shows, block by block. */
function shown(language: string): string[] {
  const page = readFileSync(new URL("../../docs/streams.md", import.meta.url), "utf8");
  return [...page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
}

test("the page about streams shows what works: with curl, and by a WebSocket that a token opens", async () => {
  const { url } = server;
  const client = createClient({ baseUrl: url, apiKey: "dev" });
  await spawned("contract-1");
  const { token } = await client.streamToken("contract-1");
  const snippet = shown("js").find((text) => text.includes("new WebSocket")) as string;
  const records: LogRecord[] = [];
  const socket: WebSocket = new Function(
    "base",
    "token",
    "last",
    "show",
    "comeBack",
    `${snippet}; return socket;`,
  )(
    url,
    token,
    0,
    (record: LogRecord) => records.push(record),
    () => {},
  );
  const closed = new Promise((end) =>
    socket.addEventListener("close", ({ reason }) => end(reason)),
  );
  const [command = ""] = shown("sh");
  const pasted = promisify(execFile)("sh", ["-c", command], {
    env: { ...process.env, URL: `${url}/v1` },
  });
  await untilTrue(() => records.length === 1);
  await client.sendEvent("contract-1", "END");
  const { stdout } = await pasted;
  const [start = ""] = (shown("")[0] ?? "").split(", …}");
  const undated = (text: string) => text.replaceAll(/"at":"[^"]*"/g, '"at":"…"');
  expect(undated(stdout).startsWith(undated(start))).toBe(true);
  expect(stdout.match(/^id: \d+$/gm)).toEqual(["id: 0", "id: 1", "id: 2"]);
  expect(await closed).toBe("finished");
  expect(records.map(({ seq }) => seq)).toEqual([1, 2]);
});
