import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { VERSION } from "../../src/base/version.ts";

it("is the version of the package", async () => {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  expect(VERSION).toBe(JSON.parse(manifest).version);
});
