// Builds dist/sdk, the part of this repository that is published as a package.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = `${root}dist/sdk`;

// A file that src/sdk no longer has must not be published once more.
rmSync(out, { recursive: true, force: true });
const tsc = `${root}node_modules/typescript/bin/tsc`;
const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.sdk.json"], {
  cwd: root,
  stdio: "inherit",
});
if (run.status !== 0) process.exit(run.status ?? 1);

// The compiler rewrites `./x.ts` to `./x.js` in code and leaves it in declarations, where not every
// version that reads them finds the file.
for (const name of readdirSync(out)) {
  if (!name.endsWith(".d.ts")) continue;
  const text = readFileSync(`${out}/${name}`, "utf8");
  writeFileSync(`${out}/${name}`, text.replaceAll(/(from "\.\/[^"]+)\.ts"/g, '$1.js"'));
}
