import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./sources.ts";

it("README.md has every folder of src on its map", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const map = /^## Map of src\n([\s\S]*?)^## /m.exec(readme)?.[1] ?? "";
  expect(folders.filter((name) => !map.includes(`| \`src/${name}/\` |`))).toEqual([]);
});
