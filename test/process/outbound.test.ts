import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bundle } from "../../scripts/bundle.ts";
import { holdDataDirectory } from "../../scripts/data-directory.ts";
import { readSettings } from "../../scripts/serve-settings.ts";
import { startWorkerd } from "../../scripts/workerd.ts";

/** A Worker that does what it is told: the settings decide where it gets to. */
const OBEDIENT = `export default {
  async fetch(request) {
    try {
      const { status } = await fetch(await request.text());
      return new Response("reached " + status);
    } catch {
      return new Response("refused");
    }
  }
};`;

const folder = mkdtempSync(join(tmpdir(), "perdure-outbound-"));
const inside = createServer((_, response) => response.end("inside"));
let secret: string;

beforeAll(async () => {
  await once(inside.listen(0, "127.0.0.1"), "listening");
  secret = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`;
  mkdirSync(join(folder, "bundle"));
  writeFileSync(join(folder, "bundle/index.js"), OBEDIENT);
});

afterAll(() => {
  inside.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks a server of that profile to fetch our own loopback address. */
async function fetchInside(profile: string): Promise<string> {
  const settings = readSettings(["--profile", profile, "--port", "0"], {
    PERDURE_ADMIN_KEY: "an-admin-key-of-these-tests-only",
  });
  if (settings === "help") throw new Error("not asked for");
  const bundle: Bundle = {
    directory: join(folder, "bundle"),
    main: "index.js",
    modules: [],
    compatibilityDate: "2026-08-15",
    compatibilityFlags: [],
    objects: [],
  };
  const data = await holdDataDirectory(join(folder, profile));
  const server = startWorkerd(bundle, data, {}, { ...settings, fromEnvironment: [] });
  try {
    const url = `http://127.0.0.1:${await server.listening}/`;
    return await (await fetch(url, { method: "POST", body: secret })).text();
  } finally {
    server.kill("SIGKILL");
    await server.exited;
    data.release();
  }
}

describe("what the Worker may reach", () => {
  it("in development includes this machine, where examples run", async () => {
    expect(await fetchInside("development")).toBe("reached 200");
  });

  it("in production excludes it", async () => {
    expect(await fetchInside("production")).toBe("refused");
  });
});
