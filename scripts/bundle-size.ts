import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Refusal, runScript } from "./refusal.ts";
import { wrangler } from "./wrangler.ts";

/**
 * kB (1,000 bytes), gzipped. Isolates start when a request comes, and start sooner when small. The goal is 200, which
 * migrations and activities took the Worker above: docs/decisions/bundle-size.md. It shall not grow without being noticed.
 */
const LIMIT_KB = 260;

/** `npm run size`: a dry run of the deployment and the size of what it would upload. */
await runScript(async () => {
  const directory = await mkdtemp(join(tmpdir(), "perdure-size-"));
  try {
    await wrangler(["deploy", "--dry-run", "--outdir", directory]);
    let bytes = 0;
    for (const name of await readdir(directory)) {
      if (name === "README.md" || name.endsWith(".map")) continue;
      bytes += gzipSync(await readFile(join(directory, name))).length;
    }
    const size = `The Worker is ${(bytes / 1000).toFixed(1)} kB gzipped; the limit is ${LIMIT_KB} kB.`;
    if (bytes > LIMIT_KB * 1000) throw new Refusal(size);
    console.log(size);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
