import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { ROOT, readSources } from "./sources.ts";

it("the limits in docs/limits.md are those of the code", () => {
  const page = readFileSync(join(ROOT, "docs/limits.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)];
  const told = Object.fromEntries(
    rows.map(([, name, value]) => [name, Number(value?.replaceAll(",", ""))]),
  );
  expect(rows.length).toBeGreaterThan(25);
  expect(told).toEqual(
    Object.fromEntries(
      Object.keys(told).map((name) => [name, LIMITS[name as keyof typeof LIMITS]]),
    ),
  );
});

it("every limit says its unit and its reason", () => {
  const source = readFileSync(join(ROOT, "src/base/limits.ts"), "utf8");
  const body = source.slice(source.indexOf("export const LIMITS"));
  const members = [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  expect(members).toEqual(Object.keys(LIMITS));
  // A comment may speak for the members right below it, as long as they share its subject.
  const unexplained = body.match(/\n\n {2}\w+:/g);
  expect(unexplained).toBeNull();
});

it("what an isolate remembers from one request to the next has a bound", () => {
  // A map that begins empty outside of any object only grows; an Lru forgets.
  const growing = /^(?:export )?(?:const|let) \w+[^=\n]*= new (?:Map|Set)(?:<[^(]*>)?\(\)/m;
  const unbounded = readSources().filter(({ code }) => growing.test(code));
  expect(unbounded.map(({ path }) => path)).toEqual([]);
  expect("const known = new Map<string, number>();").toMatch(growing);
});
