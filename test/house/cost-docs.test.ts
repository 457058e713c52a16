import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  bill,
  costTable,
  countsTable,
  LIVES,
  markdown,
  peersTable,
  prose,
  temporal,
  useOf,
} from "../../bench/cost.ts";
import { ROOT } from "./sources.ts";

const page = readFileSync(join(ROOT, "docs/cost.md"), "utf8");

describe("docs/cost.md", () => {
  it("has the tables that `node bench/cost.ts` computes from what was counted", () => {
    expect(page).toContain(markdown(countsTable()));
    expect(page).toContain(markdown(costTable()));
    expect(page).toContain(markdown(peersTable()));
  });

  it("names the same figures in its prose", () => {
    const { actorBytes, entryBytes, awake, keep } = prose();
    expect(page).toContain(`has ${actorBytes} bytes after these 20 events`);
    expect(page).toContain(`an entry of the directory ${entryBytes} `);
    expect(page).toContain(`alone would be ${awake} USD`);
    expect(page).toContain(`its bytes, ${keep} USD a month`);
  });

  it("describes every life that it computes", () => {
    for (const { name } of LIVES) expect(page).toContain(`**${name.slice(0, 1)}**`);
  });
});

describe("the cost of a month", () => {
  it("is the plan alone where everything is included", () => {
    const nothing = Object.fromEntries(
      Object.keys(useOf(LIVES[0]!)).map((unit) => [unit, 1]),
    ) as ReturnType<typeof useOf>;
    expect(bill(nothing)).toBe(5);
    expect(bill({ ...nothing, rowsWritten: 51_000_000, storedGb: 10 })).toBeCloseTo(5 + 1 + 1);
  });

  it("follows Temporal's own example: 11.25 million actions beyond the plan's are 525 USD", () => {
    expect(temporal(11.25 + 2.5)).toBe(525 + 500);
    expect(() => temporal(300)).toThrow("not published");
  });
});
