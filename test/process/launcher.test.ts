import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundleWorker } from "../../scripts/bundle.ts";
import { commandOf } from "../../scripts/processes.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer, ServerOptions } from "../../scripts/server.ts";
import { ROOT } from "../house/sources.ts";
import { until } from "../support/until.ts";
import { call, spawnDoor } from "./client.ts";

const ADMIN_KEY = "an-admin-key-of-these-tests-only";

let folder: string;
let data: string;
let running: RunningServer[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-launcher-"));
  data = join(folder, "data");
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ persistTo: data, ...options });
  running.push(server);
  return server;
}

function startProduction(env: Record<string, string> = { PERDURE_ADMIN_KEY: ADMIN_KEY }) {
  return start({ profile: "production", env });
}

/** Within `ms`; a process that ended but was not yet reaped has no command line. */
async function hasEnded(pid: number, ms = 30_000): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += 10) {
    if (commandOf(pid) === "") return true;
    await sleep(10);
  }
  return false;
}

async function kindsOf(url: string, actor: string): Promise<string[]> {
  const { body } = await call(url, "GET", `/v1/actors/${actor}/events`);
  return (body["items"] as { kind: string; type: string | null }[]).map(({ kind, type }) =>
    `${kind} ${type ?? ""}`.trim(),
  );
}

function runScript(name: string, ...args: string[]) {
  return spawnSync(process.execPath, [join(ROOT, "scripts", name), ...args], { encoding: "utf8" });
}

describe("starting", () => {
  it("takes a free port for 0, one of its own for each", async () => {
    const [one, two] = await Promise.all([start(), start({ persistTo: join(folder, "other") })]);
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(two.url).not.toBe(one.url);
    expect((await fetch(`${one.url}/v1/health`)).status).toBe(200);
  });

  it("says nothing on stderr once the Worker is built", async () => {
    await bundleWorker();
    const server = await start();
    await spawnDoor(server.url, "front");
    await server.stop();
    expect(server.said()).toBe("");
  });

  it("refuses a data directory in use, in a sentence with the pid", async () => {
    const { pid } = await start();
    await expect(start()).rejects.toThrow(`in use by process ${pid}.`);
  });

  it("lets one of many that start at once have the directory", async () => {
    const starts = await Promise.allSettled([start(), start(), start()]);
    expect(starts.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
    ]);
  });

  it("refuses a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use.`);
    other.close();
  });

  it("refuses a directory that lost the keys of its objects", async () => {
    await (await start()).stop();
    rmSync(join(data, "store.json"));
    await expect(start()).rejects.toThrow("store.json is missing");
  });

  it("refuses options it does not know and shows those it does", () => {
    const run = runScript("serve.ts", "--prot", "1");
    expect(run.status).toBe(1);
    expect(run.stderr).toContain("'--prot'");
    expect(run.stderr).toContain("--persist-to");
  });
});

describe("the profiles", () => {
  it("development listens on loopback only", async () => {
    await expect(start({ host: "0.0.0.0" })).rejects.toThrow("loopback only");
  });

  it.each([
    ["missing", {}],
    ["short", { PERDURE_ADMIN_KEY: "dev" }],
  ])("production does not start with its admin key %s", async (_, env) => {
    const start = startProduction({ PERDURE_ADMIN_KEY: "", ...env });
    await expect(start).rejects.toThrow("openssl rand -hex 32");
  });

  it("production knows its admin key and nothing of development", async () => {
    const { url } = await startProduction();
    await spawnDoor(url, "front", ADMIN_KEY);
    expect((await call(url, "GET", "/v1/actors/front")).status).toBe(401);
    const advance = await call(
      url,
      "POST",
      "/v1/actors/front/clock/advance",
      { ms: 1_000 },
      ADMIN_KEY,
    );
    expect(advance.status).toBe(404);
  });

  it("a directory belongs to the profile that used it first", async () => {
    await (await start()).stop();
    await expect(startProduction()).rejects.toThrow("data of the development profile (npm start)");
    await (await start()).stop();

    data = join(folder, "production");
    await (await startProduction()).stop();
    await expect(start()).rejects.toThrow("another directory with --persist-to");
    await startProduction();
  });

  it("a directory that no profile is known of is taken as it is, by the first to use it", async () => {
    const first = await start();
    await spawnDoor(first.url, "front");
    await first.stop();
    const file = join(data, "store.json");
    const { profile, ...before } = JSON.parse(readFileSync(file, "utf8")) as { profile: string };
    expect(profile).toBe("development");
    writeFileSync(file, JSON.stringify(before));

    const second = await startProduction();
    expect((await call(second.url, "GET", "/v1/actors/front", undefined, ADMIN_KEY)).status).toBe(
      200,
    );
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ ...before, profile: "production" });
  });

  it("production writes its admin key neither to a file nor to a command line", async () => {
    const { pid, serverPid } = await startProduction();
    const files = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile());
    const written = files.map(({ name }) => readFileSync(join(data, name), "latin1")).join("\n");
    expect(written).toContain("PERDURE_ADMIN_KEY");
    expect(written + commandOf(pid) + commandOf(serverPid)).not.toContain(ADMIN_KEY);
  });
});

describe("ending", () => {
  it("in order, lets a request under way finish", async () => {
    const server = await start();
    await spawnDoor(server.url, "front");
    // Its answer begins before the claim has waited to its end, so the request is under way.
    const answer = await fetch(`${server.url}/v1/queues/front/claim`, {
      method: "POST",
      headers: {
        Authorization: "Bearer dev",
        "Content-Type": "application/json",
        Connection: "close",
      },
      body: JSON.stringify({ worker: "w", waitMs: 1_500 }),
    });
    await server.stop();
    expect(await answer.json()).toEqual({ tasks: [] });
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it("by SIGKILL of the server right after a 200 loses nothing", async () => {
    const first = await start();
    await spawnDoor(first.url, "front");
    const { status } = await call(first.url, "POST", "/v1/actors/front/events", { type: "OPEN" });
    process.kill(first.serverPid, "SIGKILL");
    expect(status).toBe(200);
    expect((await first.exited).code).toBe(1);
    expect(first.said()).toContain("ended by itself (SIGKILL)");

    const second = await start();
    expect(await kindsOf(second.url, "front")).toContain("event OPEN");
  });

  it("by SIGKILL of the launcher takes the server along and frees the directory", async () => {
    const first = await start();
    await spawnDoor(first.url, "front");
    process.kill(first.pid, "SIGKILL");
    expect(await hasEnded(first.serverPid)).toBe(true);

    const second = await start();
    expect((await call(second.url, "GET", "/v1/actors/front")).status).toBe(200);
  });

  it("by SIGKILL of launcher and guard leaves a server that the next start ends", async () => {
    const first = await start();
    const guard = guardOf(first.serverPid);
    expect(guard).toBeGreaterThan(1);
    process.kill(guard, "SIGKILL");
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    expect(await hasEnded(first.serverPid, 200)).toBe(false);

    await start();
    expect(await hasEnded(first.serverPid, 100)).toBe(true);
  });

  it("of npm by SIGKILL ends the server that npm started", async () => {
    const args = ["--profile", "development", "--port", "0", "--persist-to", data];
    const script = `
      const { spawn } = require("node:child_process");
      const env = { ...process.env, npm_lifecycle_event: "start" };
      spawn(process.execPath, process.argv.slice(1), { stdio: "inherit", env });
    `;
    const npm = spawn(
      process.execPath,
      ["-e", script, "--", join(ROOT, "scripts/serve.ts"), ...args],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    await once(npm.stdout, "data");
    const launcher = Number(readFileSync(join(data, "holder"), "utf8"));
    npm.kill("SIGKILL");
    expect(await hasEnded(launcher)).toBe(true);
    await start();
  });
});

describe("what it keeps", () => {
  it("a timer that was due while it was down fires after the start, without a request", async () => {
    const first = await start();
    await spawnDoor(first.url, "front");
    await call(first.url, "POST", "/v1/actors/front/events", { type: "OPEN" });
    await first.kill();
    await sleep(1_000);

    const second = await start();
    // A list asks the directory, and nobody asks the actor.
    await until(
      async () => (await call(second.url, "GET", "/v1/actors?family=door")).body["items"],
      (items) => (items as { seq: number }[])[0]?.seq === 3,
      90_000,
    );
    const { body } = await call(second.url, "GET", "/v1/actors/front/events?after=2");
    expect(body["items"]).toMatchObject([{ kind: "timer", stateValue: "closed" }]);
  });

  it("can be copied while it is down and goes on from the copy", async () => {
    const first = await start();
    await spawnDoor(first.url, "front");
    const copy = join(folder, "backup");
    const refused = runScript("backup.ts", "--to", copy, "--persist-to", data);
    expect(refused.stderr).toContain(`in use by process ${first.pid}. Stop the server first`);
    expect(refused.stderr).not.toContain("another directory");
    // Killed, so that there is a write-ahead log to copy.
    await first.kill();
    expect(runScript("backup.ts", "--to", copy, "--persist-to", data).status).toBe(0);

    const elsewhere = join(folder, "elsewhere");
    const onto = (to: string) => runScript("restore.ts", "--from", copy, "--persist-to", to);
    expect(onto(data).stderr).toContain("is not empty");
    expect(onto(elsewhere).status).toBe(0);
    const second = await start({ persistTo: elsewhere });
    expect((await call(second.url, "GET", "/v1/actors/front")).body["stateValue"]).toBe("closed");
  });
});

describe.each(["backup", "restore"])("npm run %s", (name) => {
  it("shows its options when asked", () => {
    const run = runScript(`${name}.ts`, "--help");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toContain(`Usage: npm run ${name} -- --`);
  });

  it.each([
    ["unknown", ["--prot", "1"], "'--prot'"],
    ["missing", [], "Say where"],
    ["without its value", ["--persist-to"], "'--persist-to"],
  ])("refuses an option that is %s with a sentence and the usage", (_, args, said) => {
    const run = runScript(`${name}.ts`, ...args);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(said);
    expect(run.stderr).toContain(`Usage: npm run ${name} -- --`);
    expect(run.stderr).not.toContain("    at ");
  });
});

/** The one child of the server: the shell that waits for the launcher's end. */
function guardOf(serverPid: number): number {
  const table = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).stdout;
  const rows = table.split("\n").map((row) => row.trim().split(/\s+/).map(Number));
  return rows.find(([, parent]) => parent === serverPid)?.[0] ?? 0;
}
