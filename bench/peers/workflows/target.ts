import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bundleWorker } from "../../../scripts/bundle.ts";
import { wireRequest } from "../../connection.ts";
import { workerdVersion } from "../../machine-facts.ts";
import { expectAnswer } from "../../target.ts";
import type { Running } from "../../target.ts";
import { fileOf, installPackages, versionOf } from "../install.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, startProcess } from "../started-process.ts";
import { OUTCOME, PLAIN_WIRE } from "../wire.ts";
import { miniflareVersion, workflowsConfiguration } from "./engine.ts";

type Esbuild = { build(options: Record<string, unknown>): Promise<unknown> };

const WORKERD = (createRequire(import.meta.url)("workerd") as { default: string }).default;

/** A Workflow for each loan; an event is acknowledged when it is stored, not when its step is done. */
export const workflows: Peer = {
  ...PLAIN_WIRE,
  key: "workflows",
  keyed: false,
  name: "Workflows (local)",
  prepare: installPackages,
  versions: () =>
    `the engine of miniflare ${miniflareVersion()} on workerd ${workerdVersion()}, xstate ${versionOf("xstate")}`,
  start,
  checkCreated: (id, answer) => expectAnswer(answer, 201, { id }),
  checkEvent: (id, _index, answer) => expectAnswer(answer, 202, { id }),
  outcome: {
    read: (id) => wireRequest("GET", `/instances/${id}/${OUTCOME.seq}`, {}),
    check: (id, answer) => expectAnswer(answer, 200, { id, ...OUTCOME }),
  },
};

async function start(directory: string): Promise<Running> {
  const objects = join(directory, "objects");
  const main = join(directory, "worker.js");
  const config = join(directory, "workflows.capnp");
  mkdirSync(objects, { recursive: true });
  const { build } = (await import(fileOf("esbuild"))) as Esbuild;
  await build({
    entryPoints: [join(import.meta.dirname, "worker.js")],
    outfile: main,
    bundle: true,
    format: "esm",
    external: ["cloudflare:*"],
    logLevel: "silent",
  });
  const { compatibilityDate } = await bundleWorker();
  const port = await freePort();
  writeFileSync(config, workflowsConfiguration({ directory, main, compatibilityDate, port }));
  const server = startProcess({
    command: WORKERD,
    args: ["serve", "--experimental", `--directory-path=disk=${objects}`, config],
  });
  const url = `http://127.0.0.1:${port}`;
  const end = () => server.end();
  try {
    await server.ready(() => answers(url));
  } catch (error) {
    await end();
    throw error;
  }
  return { url, pid: server.pid, end };
}
