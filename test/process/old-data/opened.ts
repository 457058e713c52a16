import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpack } from "../../../scripts/old-data/archive.ts";
import type { Manifest } from "../../../scripts/old-data/manifest.ts";

const ARCHIVES = fileURLToPath(new URL("../../golden/data/", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("../../../scripts/", import.meta.url));

/** Steps with an archive, oldest first. */
export const STEPS = readdirSync(ARCHIVES)
  .map((name) => name.replace(/\.tar\.br$/, ""))
  .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));

export interface Opened {
  manifest: Manifest;
  /** A data directory as the killed server left it. */
  data: string;
  /** All that was made of it goes. */
  remove(): void;
}

export async function open(step: string): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), `perdure-${step}-`));
  await unpack(join(ARCHIVES, `${step}.tar.br`), folder);
  return {
    manifest: JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest,
    data: join(folder, "data"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Through the scripts that operators use: backed up, restored, and the copy is what is answered. */
export function backedUpAndRestored(data: string): string {
  const [backup, restored] = [`${data}-backup`, `${data}-restored`];
  const run = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [join(SCRIPTS, script), ...args]);
  run("backup.ts", "--persist-to", data, "--to", backup);
  run("restore.ts", "--from", backup, "--persist-to", restored);
  return restored;
}
