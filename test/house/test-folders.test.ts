import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources.ts";

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".test.ts"),
);
const folderOf = (path: string) => path.split("/")[0] ?? "";
const withTests = [...new Set(files.map(folderOf))].toSorted();

/** The folders of each project, in the order of the file: plain Node, Workers, processes. */
const projects = [...textOf("vitest.config.ts").matchAll(/"test\/\{([\w,]+)\}\//g)].map(
  ([, names = ""]) => names.split(","),
);

describe("every folder of tests", () => {
  it("is in one project of Vitest", () => {
    expect(projects).toHaveLength(3);
    expect(projects.flat().toSorted()).toEqual(withTests);
  });

  it("has its types checked, once", () => {
    const configs = ["tsconfig.json", "tsconfig.node.json"].map(textOf);
    const named = configs.flatMap((text) => [...text.matchAll(/"test\/(\w+)"/g)]);
    expect(named.map(([, name]) => name).toSorted()).toEqual(withTests);
  });
});

it("no test fakes the pauses of objects that run beside it: one object cannot resolve what another waits for", () => {
  const beside = files.filter((path) => projects[1]?.includes(folderOf(path)));
  expect(beside.length).toBeGreaterThan(50);
  const fakes = beside.flatMap((path) =>
    [...textOf(join("test", path)).matchAll(/useFakeTimers\(([^)]*)/g)].map(([, what = ""]) => ({
      path,
      what,
    })),
  );
  expect(fakes.length).toBeGreaterThan(10);
  expect(fakes.filter(({ what }) => !/toFake/.test(what) || /setTimeout/.test(what))).toEqual([]);
});
