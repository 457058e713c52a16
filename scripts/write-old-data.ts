/**
 * Writes what the server of a checkout has on its disk, killed in the middle of its work, to `test/golden/data/<step>.tar.br`, for
 * tests of later versions to open. An archive that is there is never written again. See docs/formats.md.
 *
 *     node scripts/write-old-data.ts --step 5-fire [--checkout <dir>]
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { playActors } from "./old-data/actors-scene.ts";
import { pack } from "./old-data/archive.ts";
import { playFleet } from "./old-data/fleet-scene.ts";
import { playMoves } from "./old-data/moves-scene.ts";
import { openOutside } from "./old-data/outside.ts";
import { Scribe } from "./old-data/scribe.ts";
import { playWork } from "./old-data/work-scene.ts";
import { Refusal, runScript } from "./refusal.ts";
import type { startServer } from "./server.ts";
import { copyStore } from "./store-copy.ts";
import { ROOT } from "./wrangler.ts";

/** By the step that brought what they play. A new step that stores anything new adds its own. */
const SCENES = [playActors, playFleet, playMoves, playWork];

await runScript(async () => {
  const { step, checkout = ROOT } = parseArgs({
    options: { step: { type: "string" }, checkout: { type: "string" } },
  }).values;
  const number = Number(/^(\d+)-[a-z]+$/.exec(step ?? "")?.[1] ?? 0);
  if (step === undefined || number === 0) throw new Refusal("Say --step <number>-<name>.");
  const file = join(ROOT, "test/golden/data", `${step}.tar.br`);
  if (existsSync(file)) throw new Refusal(`${file} is there: what was released stays.`);

  const directory = mkdtempSync(join(tmpdir(), "perdure-old-data-"));
  try {
    const scribe = await play(number, resolve(checkout), join(directory, "killed"));
    const archive = join(directory, "archive");
    await copyStore(join(directory, "killed"), join(archive, "data"));
    const commit = execFileSync("git", ["-C", checkout, "rev-parse", "--short", "HEAD"]);
    const about = { step, commit: `${commit}`.trim(), writtenAt: new Date().toISOString() };
    const manifest = JSON.stringify({ ...about, ...scribe.manifest }, null, 1);
    writeFileSync(join(archive, "manifest.json"), `${manifest}\n`);
    mkdirSync(dirname(file), { recursive: true });
    await pack(archive, file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** The checkout's own server plays all that it could do, and is killed. */
async function play(number: number, checkout: string, persistTo: string): Promise<Scribe> {
  const script = pathToFileURL(join(checkout, "scripts/server.ts")).href;
  const own = (await import(script)) as { startServer: typeof startServer };
  const scribe = new Scribe();
  const outside = await openOutside(false);
  let server = await own.startServer({ persistTo });
  try {
    scribe.url = server.url;
    for (const scene of SCENES.slice(0, number)) await scene(scribe, checkout);
    await server.kill();
    server = await own.startServer({ persistTo });
    scribe.url = server.url;
    await scribe.readAll();
    await scribe.doLast();
  } finally {
    await server.kill();
    await outside.close();
  }
  return scribe;
}
