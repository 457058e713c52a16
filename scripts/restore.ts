import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Refusal, runScript } from "./refusal.ts";
import { copyStore } from "./store-copy.ts";

/** `npm run restore -- --from <backup> [--persist-to <dir>]`, into a folder that is empty or new. */
await runScript(async () => {
  const { values } = parseArgs({
    options: {
      from: { type: "string" },
      "persist-to": { type: "string", default: ".perdure" },
    },
  });
  const { from, "persist-to": to } = values;
  if (from === undefined) throw new Refusal("Say where from: npm run restore -- --from <backup>");
  if (!existsSync(join(from, "store.json"))) throw new Refusal(`${from} is not a backup.`);

  const { files, bytes } = await copyStore(resolve(from), resolve(to));
  console.log(`Copied ${files} files (${bytes} bytes) from ${from} to ${to}`);
});
