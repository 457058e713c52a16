import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources.ts";

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

const folders = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => path.split("/")[0] ?? "");
const withTests = [...new Set(folders)].toSorted();

describe("every folder of tests", () => {
  it("is in one project of Vitest", () => {
    const globs = [...textOf("vitest.config.ts").matchAll(/"test\/\{([\w,]+)\}\//g)];
    expect(globs).toHaveLength(3);
    expect(globs.flatMap(([, names = ""]) => names.split(",")).toSorted()).toEqual(withTests);
  });

  it("has its types checked, once", () => {
    const configs = ["tsconfig.json", "tsconfig.node.json"].map(textOf);
    const named = configs.flatMap((text) => [...text.matchAll(/"test\/(\w+)"/g)]);
    expect(named.map(([, name]) => name).toSorted()).toEqual(withTests);
  });
});
