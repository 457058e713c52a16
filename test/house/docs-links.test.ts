import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources.ts";

const pages = globSync(["*.md", "docs/**/*.md", "examples/*/*.md", "wasm/*.md"], { cwd: ROOT });

/** What a path in backticks begins with, so that `/v1/actors` or `perdure/sdk` is not one. */
const OWN_PATH = /`((?:src|test|docs|scripts|wasm|bench|examples|\.ci)\/[\w./-]+)`/g;
const LINK = /\]\(([^)\s]+)\)/g;

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Of every heading, as it is made from its words, and those that are set by hand. */
function anchorsOf(page: string): Set<string> {
  const text = textOf(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, words = ""]) =>
    words
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
  return new Set([
    ...headings,
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id),
  ]);
}

function brokenIn(page: string): string[] {
  const text = textOf(page);
  const links = [...text.matchAll(LINK)].map(([, target = ""]) => target);
  return [
    ...[...text.matchAll(OWN_PATH)]
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(ROOT, path))),
    ...links.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? page : join(dirname(page), file);
      if (!existsSync(join(ROOT, path))) return true;
      return anchor !== undefined && !anchorsOf(path).has(anchor);
    }),
  ].map((target) => `${page}: ${target}`);
}

describe("every page", () => {
  it("leads only to files and headings that there are", () => {
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.flatMap(brokenIn)).toEqual([]);
  });

  it("of docs is reached from the README", () => {
    const readme = textOf("README.md");
    const living = globSync("docs/*.md", { cwd: ROOT });
    expect(living.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });
});
