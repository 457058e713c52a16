import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import { ROOT } from "../house/sources.ts";

type Method = (...args: unknown[]) => unknown;

const client = createClient({
  baseUrl: "http://127.0.0.1:1",
  apiKey: "none",
  fetch: () => Promise.reject(new Error("nothing is sent here")),
  retry: false,
});

/** Every method by its name as callers write it. */
const methods = new Map<string, Method>();
for (const [name, member] of Object.entries(client) as [string, Method | object][]) {
  if (typeof member === "function") methods.set(name, member as Method);
  else for (const [own, method] of Object.entries(member)) methods.set(`${name}.${own}`, method);
}

/** The "gives" column of the tables in docs/sdk.md. */
const documented = new Map<string, string>();
const text = readFileSync(join(ROOT, "docs/sdk.md"), "utf8");
const section = /^## Methods\n([\s\S]*?)^## /m.exec(text)?.[1] ?? "";
for (const row of section.split("\n").filter((line) => line.startsWith("| `"))) {
  const [, names = "", gives = ""] = row.split(/(?<!\\)\|/);
  for (const [, name = ""] of names.matchAll(/`([a-zA-Z.]+)/g)) documented.set(name, gives.trim());
}

describe("docs/sdk.md", () => {
  it("has all methods in its tables, and no others", () => {
    expect([...documented.keys()].sort()).toEqual([...methods.keys()].sort());
  });

  // A worker is neither: it goes on until it is stopped.
  it.each([...methods].filter(([name]) => name !== "worker"))(
    "tells whether %s gives a promise or an async iterator",
    (name, method) => {
      const given = method("an-id", {}, {});
      const isIterator =
        typeof given === "object" && given !== null && Symbol.asyncIterator in given;
      if (!isIterator) void Promise.resolve(given).catch(() => {});
      expect(given instanceof Promise).toBe(!isIterator);
      expect(documented.get(name)?.startsWith("async iterator of ")).toBe(isIterator);
    },
  );
});
