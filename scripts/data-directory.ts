import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { commandOf } from "./processes.ts";
import { Refusal } from "./refusal.ts";
import type { Profile } from "./serve-settings.ts";

/**
 * A data directory, held by this process alone.
 *
 * The lock is SQLite's exclusive lock on the file `lock`, in the end one of `fcntl`: the kernel
 * keeps it, on Linux and macOS alike, and drops it when this process ends in whatever way. So it
 * is never stale and knows no pid that could be used again. The pids in `holder` and `server.pid`
 * only make sentences and find a server that outlived its launcher.
 */
export interface DataDirectory {
  path: string;
  /** Where workerd keeps the objects. */
  objects: string;
  config: string;
  serverPid: string;
  release(): void;
}

interface Store {
  format: 1;
  createdAt: string;
  /** Names the folders of the classes and is part of every object's id: lost, all is lost. */
  uniqueKeys: Record<string, string>;
  /** The one that serves it; missing until a server of this version has used it. */
  profile?: Profile;
}

/** How long a start waits for a process that is just leaving the directory. */
const LEAVING_MS = 3_000;

const TO_A_SERVER =
  "One data directory serves one process: " +
  "stop that one, or give this one another directory with --persist-to.";

/** When another process holds it, the refusal ends with `advice`. */
export async function holdDataDirectory(
  given: string,
  advice = TO_A_SERVER,
): Promise<DataDirectory> {
  const path = resolve(given);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = takeLock(path, given, advice);
  const held: DataDirectory = {
    path,
    objects: join(path, "objects"),
    config: join(path, "server.capnp"),
    serverPid: join(path, "server.pid"),
    release: () => lock.close(),
  };
  writeFileSync(join(path, "holder"), `${process.pid}\n`, { mode: 0o600 });
  mkdirSync(held.objects, { recursive: true, mode: 0o700 });
  await endOrphan(held);
  return held;
}

function takeLock(path: string, given: string, advice: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, "lock"), { timeout: LEAVING_MS });
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (!(error instanceof Error) || !error.message.includes("locked")) throw error;
    const pid = readIfThere(join(path, "holder")).trim();
    throw new Refusal(`${given} is in use by process ${pid || "unknown"}. ${advice}`);
  }
}

/** The server dies with its launcher; should both its guard and launcher be killed, it does not. */
async function endOrphan(held: DataDirectory): Promise<void> {
  const pid = Number(readIfThere(held.serverPid));
  const isOurs = () => commandOf(pid).includes(held.config);
  if (!(pid > 1) || !isOurs()) return;
  process.kill(pid, "SIGKILL");
  for (let waited = 0; isOurs(); waited += 20) {
    if (waited > 5_000) throw new Refusal(`Process ${pid} still uses ${held.path}; end it first.`);
    await sleep(20);
  }
}

/**
 * The unique key of each class, made when the directory first meets the class. The first profile
 * that uses the directory is the only one ever to use it.
 */
export function uniqueKeys(
  held: DataDirectory,
  classes: string[],
  profile?: Profile,
): Record<string, string> {
  const file = join(held.path, "store.json");
  const isNew = !existsSync(file);
  if (isNew && readdirSync(held.objects).length > 0) {
    throw new Refusal(
      `${file} is missing, but there are objects in ${held.objects} that need it. ` +
        "Restore it from a backup; the names of the folders there are its uniqueKeys.",
    );
  }
  const store: Store = isNew
    ? { format: 1, createdAt: new Date().toISOString(), uniqueKeys: {} }
    : JSON.parse(readFileSync(file, "utf8"));
  if (store.format !== 1) throw new Refusal(`${file} was written by a newer Perdure.`);
  const isUnclaimed = profile !== undefined && store.profile === undefined;
  if (isUnclaimed) store.profile = profile;
  if (profile !== undefined && store.profile !== profile) throw otherProfile(held, profile);
  const missing = classes.filter((name) => store.uniqueKeys[name] === undefined);
  for (const name of missing) {
    store.uniqueKeys[name] = `${name}-${randomBytes(16).toString("hex")}`;
  }
  if (missing.length > 0 || isUnclaimed) writeDurably(file, `${JSON.stringify(store, null, 2)}\n`);
  return store.uniqueKeys;
}

function otherProfile({ path }: DataDirectory, asked: Profile): Refusal {
  const data =
    asked === "production"
      ? "data of the development profile (npm start), whose clocks may have been moved"
      : "data of the production profile (npm run serve), which the key everybody knows must not open";
  return new Refusal(
    `${path} holds ${data}. Give this server another directory with --persist-to.`,
  );
}

function writeDurably(file: string, text: string): void {
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, file);
  const folder = openSync(join(file, ".."), "r");
  fsyncSync(folder);
  closeSync(folder);
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
