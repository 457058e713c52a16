import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources.ts";

const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const prose = readme.replaceAll(/^```[\s\S]*?^```/gm, "");

/** What a path in backticks begins with, so that `/v1/actors` or `perdure/sdk` is not one. */
const FOLDERS = /^(src|test|docs|scripts|wasm|bench|examples|\.ci)(\/|$)/;
const FILE = /^[\w.-]+\.(ts|mjs|json|toml|md|c|h|wasm)$/;

describe("README.md", () => {
  it("names only paths that exist", () => {
    const named = [...quotedPaths(), ...linkedPaths()];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("has every folder of src on its map", () => {
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const map = /^#+ [^\n]*\bmap\b[^\n]*\n([\s\S]*?)(?=^#+ |$(?![\s\S]))/im.exec(readme)?.[1] ?? "";
    const missing = folders.filter((name) => !new RegExp(`\\b${name}/|src/${name}\\b`).test(map));
    expect(missing).toEqual([]);
  });
});

function quotedPaths(): string[] {
  const quoted = [...prose.matchAll(/`([^`\s]+)`/g)].map(([, text]) => text ?? "");
  return quoted.filter((text) => FOLDERS.test(text) || FILE.test(text));
}

function linkedPaths(): string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => (target ?? "").replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}
