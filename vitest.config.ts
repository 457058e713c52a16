import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import type { PoolRunnerInitializer } from "vitest/node";

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

/**
 * ms. To load the source takes a Workers process longer than most files need for their tests, so files come into it one after the other,
 * each with ids of its own. What they leave behind (objects, and a directory that all of them share) slows down those after them, so a process that is as
 * old as this takes no more.
 */
const PROCESS_MS = 30_000;

/** These begin in a process of their own: two compute for so long that whoever is there besides is held up, one counts the alarms of a whole directory. */
const FIRST_IN_PROCESS = ["actor/deciding", "cron/pattern", "actor/idle"].map(
  (name) => `/test/${name}.test.ts`,
);

const sharedProcesses: Plugin = {
  name: "shared-processes",
  enforce: "post",
  configureVitest({ project: { config } }) {
    const pool = config.poolRunner as PoolRunnerInitializer;
    config.poolRunner = {
      ...pool,
      createPoolWorker(options) {
        const worker = pool.createPoolWorker(options);
        const old = Date.now() + PROCESS_MS;
        worker.canReuse = ({ context }) =>
          Date.now() < old &&
          !context.files.some(({ filepath }) =>
            FIRST_IN_PROCESS.some((name) => filepath.endsWith(name)),
          );
        return worker;
      },
    };
  },
};

/** ms; no test is about time, so none fails because the machine is busy. Only a hang gets here. */
const PATIENCE_MS = 120_000;

/** These compare how fast things are, or take all that a machine has. */
const ALONE = [
  "bench",
  "bench-peers",
  "fairness",
  "activities-load",
  "hot",
  "load",
  "open-files",
].map((name) => `test/process/${name}.test.ts`);

/**
 * An object that its alarm wakes while its process ends asks the runner for its code, and is told that the runner closes. By then all tests of the process
 * have had their results; one whose own code could not be loaded fails by itself.
 */
function isOfEndingProcess({ name, message }: { name?: string; message?: string }): boolean {
  return (
    name === "EnvironmentTeardownError" && /Closing rpc while "resolve" was/.test(message ?? "")
  );
}

export default defineConfig({
  test: {
    onUnhandledError: (error) => (isOfEndingProcess(error) ? false : undefined),
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
          sharedProcesses,
        ],
        test: {
          name: "workers",
          include: [
            "test/{storage,registry,actor,directory,bulk,cron,webhooks,sweep,tasks,http}/**/*.test.ts",
          ],
          isolate: false,
          testTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          name: "process",
          environment: "node",
          include: ["test/{process,conformance}/**/*.test.ts"],
          exclude: ALONE,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          // Real servers that are killed and started again: they wait more than they work.
          maxWorkers: 4,
          // After the others, which would take its processors away.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "alone",
          environment: "node",
          include: ALONE,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
