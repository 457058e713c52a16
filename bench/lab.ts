import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../scripts/refusal.ts";
import type { Running, Target } from "./target.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The folder of a run and the one server in it. Nothing is left of either, however the run ends. */
export class Lab {
  readonly directory: string;
  #end: (() => Promise<void>) | null = null;
  #served = 0;
  #stopped = false;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async use<T>(work: (lab: Lab) => Promise<T>): Promise<T> {
    const lab = new Lab(await mkdtemp(join(tmpdir(), "perdure-bench-")));
    // Without its server, what is under way fails and so comes to its end.
    const stop = () => {
      lab.#stopped = true;
      void lab.#end?.();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    try {
      return await work(lab);
    } catch (error) {
      throw lab.#stopped ? new Refusal("Stopped.") : error;
    } finally {
      for (const signal of SIGNALS) process.off(signal, stop);
      await rm(lab.directory, { recursive: true, force: true });
    }
  }

  /** A signal has come: what is under way ends, and nothing is begun any more. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** A new server on an empty directory, for as long as `work` takes. */
  async serve<T>(target: Target, work: (running: Running) => Promise<T>): Promise<T> {
    this.#served += 1;
    const directory = join(this.directory, String(this.#served));
    const running = await target.start(directory);
    let ended: Promise<void> | null = null;
    const end = () => (ended ??= running.end());
    this.#end = end;
    try {
      if (this.#stopped) throw new Refusal("Stopped.");
      return await work(running);
    } finally {
      this.#end = null;
      await end();
      await hollow(directory);
    }
  }
}

/**
 * Gives its space back, and keeps the files until the run is over: for minutes after thousands of them were deleted, ext4 without a journal
 * searches through their inodes for each file that the next server makes, which costs that one milliseconds.
 */
async function hollow(directory: string): Promise<void> {
  // A server that could not start may have left none.
  if (!existsSync(directory)) return;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile()) await truncate(join(entry.parentPath, entry.name));
  }
}
