import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { runScenarios } from "../../src/lifecycle/scenario.ts";
import type { Scenario } from "../../src/lifecycle/scenario.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the scenario of the documentation passes on the example that it is about", () => {
  const order = compileDefinition(JSON.parse(read("examples/order/order.json")) as JsonObject);
  const page = read("docs/activities.md");
  const [, json = ""] = /```json\n(\{"definitionId": "order-v1"[\s\S]*?)\n```/.exec(page) ?? [];
  const { scenarios } = JSON.parse(json) as { scenarios: Scenario[] };
  expect(runScenarios(order, scenarios)).toMatchObject({ passed: scenarios.length, failed: 0 });
});
