import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readSources, withoutComments } from "./sources.ts";

/** What these export is for others: the entry of the Worker, and that of the SDK's package. */
const FOR_OTHERS = ["src/index.ts", "src/sdk/index.ts"];

it("nothing of src is exported that no other file imports", () => {
  const used = new Set(readUsers().flatMap(({ path, code }) => usesIn(code, path)));
  const unused = readSources()
    .filter(({ path }) => !FOR_OTHERS.includes(path))
    .flatMap(({ path, code }) => exportsIn(code).map((name) => `${path} ${name}`))
    .filter((one) => !used.has(one));
  expect(unused).toEqual([]);
  expect(used.size).toBeGreaterThan(1_000);
});

describe("reading exports", () => {
  it("finds every form of them", () => {
    const code = [
      `export async function a() {}`,
      `export const b = 1;`,
      `export abstract class C {}`,
      `export interface D {}`,
      `export type E = string;`,
      `export { f, g as h };`,
      `const i = 1;`,
    ].join("\n");
    expect(exportsIn(code)).toEqual(["a", "b", "C", "D", "E", "f", "h"]);
  });

  it("finds every form of their use", () => {
    const code = [
      `import { a, type B, c as d } from "./x.ts";`,
      `import type { E } from "../machine/y.ts";`,
      `export { f } from "./x.ts";`,
      `import * as all from "./z.ts";`,
      `import { g } from "xstate";`,
      `all.h(all.I);`,
    ].join("\n");
    expect(usesIn(code, "src/actor/here.ts").sort()).toEqual([
      "src/actor/x.ts B",
      "src/actor/x.ts a",
      "src/actor/x.ts c",
      "src/actor/x.ts f",
      "src/actor/z.ts I",
      "src/actor/z.ts h",
      "src/machine/y.ts E",
    ]);
  });
});

/** Whatever imports from src; a test of an inner piece is a use of it. */
function readUsers(): { path: string; code: string }[] {
  const paths = globSync("{src,bench,scripts,test}/**/*.{ts,js,mjs}", {
    cwd: ROOT,
    exclude: ["**/node_modules/**"],
  });
  return paths.map((path) => ({
    path,
    code: withoutComments(readFileSync(join(ROOT, path), "utf8")),
  }));
}

function exportsIn(code: string): string[] {
  const declared = code.matchAll(
    /^export (?:(?:async|abstract|declare) )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
  );
  const listed = code.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  return [
    ...[...declared].map(([, name]) => name as string),
    ...[...listed].flatMap(([, names]) => namesIn(names).map((name) => name.split(" as ").at(-1))),
  ] as string[];
}

/** Each as `path name`. */
function usesIn(code: string, path: string): string[] {
  const listed = code.matchAll(
    /^(?:import|export)\s(?:type\s)?\s*\{([^}]*)\}\s*from\s*"(\.[^"]+)"/gm,
  );
  const whole = code.matchAll(/^import(?:\stype)?\s\*\sas\s(\w+)\sfrom\s"(\.[^"]+)"/gm);
  const at = (target: string) => normalize(join(dirname(path), target));
  return [
    ...[...listed].flatMap(([, names, target = ""]) =>
      namesIn(names).map((name) => `${at(target)} ${name.split(" as ")[0]}`),
    ),
    ...[...whole].flatMap(([, name, target = ""]) =>
      [...code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(
        ([, member]) => `${at(target)} ${member}`,
      ),
    ),
  ];
}

function namesIn(list = ""): string[] {
  return list
    .split(",")
    .map((name) => name.trim().replace(/^type /, ""))
    .filter((name) => name !== "");
}
