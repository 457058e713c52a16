// Installs what is missing before a script runs. Plain JavaScript: it runs on the Node that is
// already there (20 or newer); what it installs brings its own.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = `${root}package-lock.json`;
const modules = `${root}node_modules`;
/** npm writes it as the last act of an install; an interrupted one leaves none. */
const installed = `${modules}/.package-lock.json`;
const stamp = `${modules}/.perdure-setup`;

const wanted = createHash("sha256").update(readFileSync(lock)).digest("hex");

/** @param {string} path */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function isCurrent() {
  if (modified(installed) === 0) return false;
  if (modified(stamp) > 0 && readFileSync(stamp, "utf8") === wanted) return true;
  // An `npm install` by hand writes both lock files within a moment of each other.
  return modified(installed) + 1000 >= modified(lock);
}

function install() {
  // npm empties the folder before it installs, also one that another project shares by a link.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.error("node_modules is a link and not up to date: run npm ci where it points to.");
    process.exit(1);
  }
  console.error("Installing dependencies (once) …");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const [command, given] = npm?.endsWith("npm-cli.js")
    ? [process.execPath, [npm, ...args]]
    : ["npm", args];
  const run = spawnSync(command, given, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (run.status !== 0) {
    console.error("npm ci failed; see above. Nothing was started.");
    process.exit(run.status ?? 1);
  }
}

if (!isCurrent()) install();
if (modified(stamp) === 0 || readFileSync(stamp, "utf8") !== wanted) writeFileSync(stamp, wanted);
