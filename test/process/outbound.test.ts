import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleWorker } from "../../scripts/bundle.ts";
import type { Bundle } from "../../scripts/bundle.ts";
import { holdDataDirectory } from "../../scripts/data-directory.ts";
import { readSettings } from "../../scripts/serve-settings.ts";
import { startWorkerd } from "../../scripts/workerd.ts";
import type { ServerSettings } from "../../scripts/workerd.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";

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
let reached = 0;
const inside = createServer((_, response) => {
  reached += 1;
  response.end("inside");
});
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

/** What a call of an activity to our own loopback address comes to, on a server of these settings. */
async function activityError(
  name: string,
  { variables, reachable }: Pick<ServerSettings, "variables" | "reachable">,
): Promise<unknown> {
  const data = await holdDataDirectory(join(folder, name));
  const bundle = await bundleWorker();
  const keys = Object.fromEntries(bundle.objects.map(({ className }) => [className, className]));
  const server = startWorkerd(bundle, data, keys, {
    host: "127.0.0.1",
    port: 0,
    variables: { PERDURE_PROFILE: "development", ...variables },
    fromEnvironment: [],
    reachable,
  });
  try {
    const url = `http://127.0.0.1:${await server.listening}`;
    const invoke = {
      id: "call",
      src: "http",
      input: { url: secret, retry: { maxAttempts: 2, initialMs: 1 } },
    };
    const got = { type: "@xstate.assign", context: { got: { "@expr": "event.error" } } };
    const definition = {
      id: "spy",
      initial: "calling",
      context: { got: null },
      states: {
        calling: { invoke: { ...invoke, onError: { target: "failed", actions: got } } },
        failed: { type: "final" },
      },
    };
    await call(url, "PUT", "/v1/definitions", { id: "spy-v1", definition });
    await call(url, "POST", "/v1/actors", { definitionId: "spy-v1", id: "spy" });
    const { body } = await until(
      () => call(url, "GET", "/v1/actors/spy"),
      (answer) => answer.body["done"] === true,
    );
    return (body["context"] as { got: unknown }).got;
  } finally {
    server.kill("SIGKILL");
    await server.exited;
    data.release();
  }
}

describe("an activity that would call this machine", () => {
  it("is refused by the address, whatever the network allows", async () => {
    const before = reached;
    const everywhere = ["public", "private", "local"];
    const error = await activityError("address", { variables: {}, reachable: everywhere });
    expect(error).toMatchObject({ code: "refused", attempts: 1 });
    expect(reached).toBe(before);
  });

  it("is kept from it by the network, as where a public name leads here", async () => {
    const before = reached;
    const variables = { PERDURE_PRIVATE_TARGETS: "1" };
    const error = await activityError("network", { variables, reachable: ["public"] });
    expect(error).toMatchObject({ code: "network", attempts: 2 });
    expect(reached).toBe(before);
  });
});
