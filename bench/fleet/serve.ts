import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWorker } from "../../scripts/bundle.ts";
import type { Lab } from "../lab.ts";
import { deployLoan, perdure } from "../perdure.ts";
import { WrongAnswer } from "../target.ts";
import type { Running } from "../target.ts";
import { startWorker } from "../worker.ts";

const ENTRY = fileURLToPath(new URL("worker.js", import.meta.url));

/** What the objects of one class did since the server started. */
export interface Figures {
  /** Calls that reached them, without alarms. */
  requests: number;
  /** Alarms that went off; each is billed as a request. */
  alarms: number;
  /** Calls of `setAlarm`; each is billed as a row written. */
  alarmsSet: number;
  rowsRead: number;
  rowsWritten: number;
}

export type ObjectClass = "actor" | "directory" | "refs" | "registry";
export type FleetFigures = Record<ObjectClass, Figures>;

/** A server of Perdure that can be seeded and counts what it does. */
export interface Fleet extends Running {
  seed(entries: readonly object[]): Promise<{ shards: number }>;
  figures(): Promise<FleetFigures>;
  counting(on: boolean): Promise<void>;
  /** Sets `LIMITS.settleMs`. */
  settle(ms: number): Promise<void>;
  /** Lets these actors go from memory. */
  sleep(actorIds: readonly string[]): Promise<void>;
  /** Their alarms that are set for a time before this one, ms since 1970, go off now. */
  ring(actorIds: readonly string[], before: number): Promise<void>;
  /** Of the databases of these actors and of the whole directory. */
  bytes(actorIds: readonly string[]): Promise<{ actors: number; directory: number }>;
}

/** Serves the bench's Worker for as long as `work` takes. */
export async function serveFleet<T>(lab: Lab, work: (fleet: Fleet) => Promise<T>): Promise<T> {
  const directory = join(lab.directory, "worker");
  await mkdir(directory, { recursive: true });
  const manifest = await buildWorker(directory, ENTRY);
  const variables = { PERDURE_PROFILE: "development" };
  const start = (data: string) => startWorker(data, { ...manifest, directory }, { variables });
  return lab.serve({ ...perdure, start }, async (running) => {
    await deployLoan(running.url);
    return work(fleetOf(running));
  });
}

function fleetOf(running: Running): Fleet {
  const through = async <T>(door: string, body: unknown): Promise<T> => {
    const response = await fetch(`${running.url}/bench/${door}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new WrongAnswer(`${door}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    ...running,
    seed: (entries) => through("seed", entries),
    figures: () => through("figures", null),
    counting: (on) => through("counting", on),
    settle: (ms) => through("settle", ms),
    sleep: (actorIds) => through("sleep", actorIds),
    ring: (actorIds, before) => through("ring", { actorIds, before }),
    bytes: (actorIds) => through("bytes", actorIds),
  };
}
