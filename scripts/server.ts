import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Profile } from "./serve-settings.ts";

export interface ServerOptions {
  /** Data directory. */
  persistTo: string;
  /** Default 0: a free one. */
  port?: number;
  host?: string;
  /** Default `development`. */
  profile?: Profile;
  /** Added to the environment of this process. */
  env?: Record<string, string>;
  /** Files that it may have open at once, if fewer than this process. */
  openFiles?: number;
}

export interface RunningServer {
  url: string;
  /** The launcher. */
  pid: number;
  /** workerd itself. */
  serverPid: number;
  /** Ends the whole server at once; with SIGKILL, the default, as a power cut would. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** What it has said on stderr so far. */
  said(): string;
}

/** A start that was refused or failed: what the launcher said. */
class StartFailed extends Error {}

const SERVE = fileURLToPath(new URL("serve.ts", import.meta.url));
const START_MS = 60_000;
/** Becomes the launcher under a lower limit. */
const LIMITED = 'ulimit -n "$1"; shift; exec "$@"';

/** Starts a real server in processes of its own and waits until it is ready. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { port = 0, host = "127.0.0.1", profile = "development", persistTo, env } = options;
  const flags = { profile, host, port: String(port), "persist-to": persistTo };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const { openFiles } = options;
  const [command, given] =
    openFiles === undefined
      ? [process.execPath, [SERVE, ...args]]
      : ["/bin/sh", ["-c", LIMITED, "sh", String(openFiles), process.execPath, SERVE, ...args]];
  const child = spawn(command, given, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) =>
    child.once("exit", (code, signal) => done({ code, signal })),
  );
  const url = await readyUrl(child, () => said);
  const pid = child.pid ?? 0;
  const serverPid = Number(readFileSync(join(resolve(persistTo), "server.pid"), "utf8"));
  return {
    url,
    pid,
    serverPid,
    exited,
    said: () => said,
    async kill(signal = "SIGKILL") {
      signalIfAlive(serverPid, signal);
      signalIfAlive(pid, signal);
      await exited;
    },
    async stop() {
      signalIfAlive(pid, "SIGTERM");
      await exited;
    },
  };
}

function readyUrl(child: ReturnType<typeof spawn>, said: () => string): Promise<string> {
  return new Promise((ready, failed) => {
    const deadline = setTimeout(() => {
      child.kill("SIGKILL");
      failed(new StartFailed(`not ready after ${START_MS} ms\n${said()}`));
    }, START_MS);
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const url = /^Perdure listening on (\S+) /m.exec(printed)?.[1];
      if (url === undefined) return;
      clearTimeout(deadline);
      ready(url);
    });
    child.once("close", (code) => {
      clearTimeout(deadline);
      failed(new StartFailed(said().trim() || `the launcher ended with ${code}`));
    });
  });
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
