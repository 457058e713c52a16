import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { backupOptions } from "./copy-options.ts";
import { holdDataDirectory } from "./data-directory.ts";
import { Refusal, runScript } from "./refusal.ts";
import { copyStore } from "./store-copy.ts";

/** `npm run backup -- --to <new folder> [--persist-to <dir>]`, while no server runs on it. */
await runScript(async () => {
  const options = backupOptions(process.argv.slice(2));
  if (options === null) return;
  const { from, to } = options;
  if (!existsSync(join(from, "store.json"))) throw new Refusal(`There is no data in ${from}.`);

  const data = await holdDataDirectory(from, "Stop the server first, then make the backup.");
  const { files, bytes } = await copyStore(data.path, resolve(to));
  data.release();
  console.log(`Copied ${files} files (${bytes} bytes) from ${from} to ${to}`);
});
