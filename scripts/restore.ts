import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { restoreOptions } from "./copy-options.ts";
import { Refusal, runScript } from "./refusal.ts";
import { copyStore } from "./store-copy.ts";

/** `npm run restore -- --from <backup> [--persist-to <dir>]`, into a folder that is empty or new. */
await runScript(async () => {
  const options = restoreOptions(process.argv.slice(2));
  if (options === null) return;
  const { from, to } = options;
  if (!existsSync(join(from, "store.json"))) throw new Refusal(`${from} is not a backup.`);

  const { files, bytes } = await copyStore(resolve(from), resolve(to));
  console.log(`Copied ${files} files (${bytes} bytes) from ${from} to ${to}`);
});
