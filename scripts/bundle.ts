import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { ROOT, wrangler } from "./wrangler.ts";

/** What a Worker is made of, as `workerd` needs to know it. Names of modules are file names. */
export interface Manifest {
  main: string;
  modules: string[];
  compatibilityDate: string;
  compatibilityFlags: string[];
  /** Binding and class of each Durable Object namespace. */
  objects: { binding: string; className: string }[];
}

export interface Bundle extends Manifest {
  /** The folder that holds the modules. */
  directory: string;
}

const BUNDLES = join(ROOT, "dist/worker");
const MANIFEST = "manifest.json";
const DAY_MS = 86_400_000;

/** The Worker as wrangler would deploy it; built again only if something it is made of changed. */
export async function bundleWorker(): Promise<Bundle> {
  const directory = join(BUNDLES, await fingerprintOfSources());
  if (!existsSync(join(directory, MANIFEST))) {
    console.error("Building the Worker (once, until its sources change) …");
    await build(directory);
  }
  const manifest = JSON.parse(await readFile(join(directory, MANIFEST), "utf8")) as Manifest;
  return { ...manifest, directory };
}

async function build(directory: string): Promise<void> {
  const draft = `${directory}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(join(draft, MANIFEST), JSON.stringify(await buildWorker(draft), null, 2));
    await rename(draft, directory);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have built the same bundle at the same time.
    if (!existsSync(join(directory, MANIFEST))) throw error;
  }
  await removeOld();
}

/** Builds the Worker of `entry`, a file of this project, into `directory`. */
export async function buildWorker(
  directory: string,
  entry = join(ROOT, "src/index.ts"),
): Promise<Manifest> {
  await wrangler(["deploy", entry, "--dry-run", "--outdir", directory]);
  const { unstable_readConfig: readConfig } = await import("wrangler");
  const config = readConfig({ config: join(ROOT, "wrangler.toml") }, { hideWarnings: true });
  const files = await readdir(directory);
  const main = `${parse(entry).name}.js`;
  const modules = files.filter((name) => /\.(wasm|html|txt|sql|bin)$/.test(name));
  if (!files.includes(main)) throw new Error(`wrangler wrote no ${main}`);
  return {
    main,
    modules,
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: config.compatibility_flags,
    objects: config.durable_objects.bindings.map(
      (binding: { name: string; class_name?: string }) => ({
        binding: binding.name,
        className: binding.class_name ?? "",
      }),
    ),
  };
}

async function fingerprintOfSources(): Promise<string> {
  const paths = ["wrangler.toml", "package.json", "package-lock.json", "tsconfig.json"];
  for (const folder of ["src", "wasm"]) {
    for (const entry of await readdir(join(ROOT, folder), {
      recursive: true,
      withFileTypes: true,
    })) {
      if (entry.isFile()) paths.push(join(entry.parentPath, entry.name).slice(ROOT.length));
    }
  }
  const hash = createHash("sha256");
  for (const path of paths.sort()) {
    const bytes = await readFile(join(ROOT, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** workerd reads its modules once, so a bundle older than a day serves nobody that starts now. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(BUNDLES)) {
    const path = join(BUNDLES, name);
    try {
      const age = Date.now() - (await stat(path)).mtimeMs;
      if (age > DAY_MS) await rm(path, { recursive: true, force: true });
    } catch (error) {
      // Another process may have renamed its draft meanwhile, or removed what is old.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
