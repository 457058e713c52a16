import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { holdDataDirectory } from "./data-directory.ts";
import { Refusal, runScript } from "./refusal.ts";
import { copyStore } from "./store-copy.ts";

/** `npm run backup -- --to <new folder> [--persist-to <dir>]`, while no server runs on it. */
await runScript(async () => {
  const { values } = parseArgs({
    options: {
      to: { type: "string" },
      "persist-to": { type: "string", default: ".perdure" },
    },
  });
  const from = values["persist-to"];
  if (values.to === undefined) throw new Refusal("Say where to: npm run backup -- --to <folder>");
  if (!existsSync(join(from, "store.json"))) throw new Refusal(`There is no data in ${from}.`);

  const data = await holdDataDirectory(from);
  const { files, bytes } = await copyStore(data.path, resolve(values.to));
  data.release();
  console.log(`Copied ${files} files (${bytes} bytes) from ${from} to ${values.to}`);
});
