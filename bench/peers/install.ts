import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Refusal } from "../../scripts/refusal.ts";

const HERE = import.meta.dirname;
const require = createRequire(join(HERE, "package.json"));

/** Several peers need the packages; trying once is enough. */
let failure: Refusal | null = null;

/** Puts the peers' packages beside their package.json unless they are there; they are no part of the project's own. */
export function installPackages(): void {
  if (failure !== null) throw failure;
  if (isInstalled()) return;
  console.error("Installing the peers' packages (once, about 230 MB) …");
  // One of them would report the install to its makers from a script.
  const args = [
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--prefix",
    HERE,
  ];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: HERE, encoding: "utf8" });
  if (status === 0) return;
  failure = new Refusal(`npm ci in bench/peers failed: ${error?.message ?? stderr.trim()}`);
  throw failure;
}

/** Of an installed package. */
export function versionOf(name: string): string {
  return readVersion(join(HERE, "node_modules", name, "package.json")) ?? "not installed";
}

/** The path of a file of an installed package. */
export function fileOf(specifier: string): string {
  return require.resolve(specifier);
}

function isInstalled(): boolean {
  const { dependencies } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const installed = Object.keys(dependencies).map((name) => [name, versionOf(name)]);
  return isDeepStrictEqual(Object.fromEntries(installed), dependencies);
}

function readVersion(manifest: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
