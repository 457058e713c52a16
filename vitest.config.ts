import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * XState publishes a second build under the export condition `development`. Wrangler bundles the
 * other one, so the tests must run that too; Vitest merges its default conditions into ours, hence
 * this late removal.
 */
const productionBuilds: Plugin = {
  name: "production-builds",
  configResolved(config) {
    const resolvers = [config.resolve, config.ssr.resolve ?? {}];
    for (const environment of Object.values(config.environments)) {
      resolvers.push(environment.resolve);
    }
    for (const resolver of resolvers) {
      for (const list of [resolver.conditions, resolver.externalConditions]) {
        const at = list?.indexOf("development|production") ?? -1;
        if (at >= 0) list?.splice(at, 1);
      }
    }
  },
};

/**
 * Every call prints that this package goes on under another name. That one needs a newer workerd
 * than the one we pin, so the message is not for who runs the tests.
 */
function withoutBanner<T>(create: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return create();
  } finally {
    console.warn = warn;
  }
}

/** Wrangler imports `.wasm` as a compiled module; this does the same for tests in plain Node. */
const wasmModule: Plugin = {
  name: "wasm-module",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".wasm")) return null;
    const bytes = (await readFile(id)).toString("base64");
    return `export default new WebAssembly.Module(Buffer.from("${bytes}", "base64"));`;
  },
};

/** ms; no test is about time, so none fails because the machine is busy. Only a hang gets here. */
const PATIENCE_MS = 120_000;

export default defineConfig({
  test: {
    // The machine that runs this may have two cores; servers under test need one of them.
    maxWorkers: 2,
    projects: [
      {
        plugins: [productionBuilds, wasmModule],
        test: {
          name: "unit",
          environment: "node",
          include: [
            "test/{base,activities,outbound,fingerprint,machine,lifecycle,migration,sdk,house}/**/*.test.ts",
          ],
          testTimeout: PATIENCE_MS,
        },
      },
      {
        plugins: [
          productionBuilds,
          withoutBanner(() =>
            cloudflareTest({
              wrangler: { configPath: "./wrangler.toml" },
              remoteBindings: false,
              miniflare: {
                bindings: {
                  PERDURE_PROFILE: "development",
                  PERDURE_TEST_CLOCK: "1",
                  PERDURE_PRIVATE_TARGETS: "1",
                },
              },
            }),
          ),
        ],
        test: {
          name: "workers",
          include: [
            "test/{storage,registry,actor,directory,bulk,cron,webhooks,sweep,tasks,http}/**/*.test.ts",
          ],
          testTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          name: "process",
          environment: "node",
          include: ["test/{process,conformance}/**/*.test.ts"],
          // Real servers that are killed and started again.
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          maxWorkers: 1,
          // After the others, which would take its processors away.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
