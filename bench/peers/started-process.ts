import { spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../../scripts/refusal.ts";

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  /** Added to the environment of this process. */
  env?: Record<string, string>;
  /** Under whose rights, if not those of this process. */
  user?: { uid: number; gid: number };
  /** What ends it at once; SIGKILL unless it then leaves something behind. */
  endSignal?: NodeJS.Signals;
}

export interface StartedProcess {
  pid: number;
  /** Resolves as soon as `isReady` does with true; fails with what the process said if it ends, or in a minute. */
  ready(isReady: (said: string) => boolean | Promise<boolean>): Promise<void>;
  end(): Promise<void>;
}

/** Leaves a guard behind that ends the process as soon as the bench is gone, however that happened. */
const GUARDED = `
signal=$1; shift
ulimit -n "$(ulimit -H -n)" 2>/dev/null
exec 4<&0
( read -r word || kill -s "$signal" $$ 2>/dev/null ) <&4 4<&- >/dev/null 2>&1 &
exec "$@" </dev/null 4<&-
`;
const READY_MS = 60_000;
const LOOK_MS = 50;
/** Of what it says, so much is kept for an error. */
const SAID_CHARACTERS = 2_000;

export function startProcess(options: ProcessOptions): StartedProcess {
  const { command, args, env, user, endSignal = "SIGKILL" } = options;
  const signal = endSignal.replace("SIG", "");
  const child = spawn("/bin/sh", ["-c", GUARDED, "sh", signal, command, ...args], {
    cwd: "/",
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    // Ctrl-C reaches the bench only, which then ends what it started.
    detached: true,
    ...user,
  });
  let said = "";
  const hear = (chunk: string) => (said = (said + chunk).slice(-SAID_CHARACTERS));
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const lifeline: Writable = child.stdin;
  lifeline.on("error", () => {});
  let hasEnded = false;
  const exited = new Promise<void>((resolve) => {
    child.once("error", (error) => hear(error.message));
    child.once("close", () => {
      hasEnded = true;
      lifeline.end("ended\n");
      resolve();
    });
  });
  const fail = (what: string) => new Refusal(`${command} ${what}: ${said.trim()}`);
  return {
    pid: child.pid ?? 0,
    async ready(isReady) {
      for (let waited = 0; !(await isReady(said)); waited += LOOK_MS) {
        if (hasEnded) throw fail("ended at its start");
        if (waited > READY_MS) throw fail(`was not ready in ${READY_MS} ms`);
        await sleep(LOOK_MS);
      }
    },
    async end() {
      child.kill(endSignal);
      await exited;
    },
  };
}

/** True once something answers there with 200. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/** On the loopback interface; for servers that cannot tell which one they took themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
