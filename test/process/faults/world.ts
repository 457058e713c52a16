import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWorker } from "../../../bench/worker.ts";
import { buildWorker } from "../../../scripts/bundle.ts";
import type { Fault, Passed } from "./plan.ts";

/** ms after which a server that answers nobody is seen to be stuck. */
const DOOR_MS = 60_000;
const ENTRY = fileURLToPath(new URL("worker.js", import.meta.url));

/** A server whose every point can be made to fail, each tenant's by themselves. */
export interface World {
  url: string;
  /** A key of a new tenant. */
  keyOf(tenant: string): Promise<string>;
  /** From now on the tenant's points are counted, those of its calls to `outside` too, and its faults wait. */
  begin(tenant: string, outside: string, faults: readonly Fault[]): Promise<void>;
  end(tenant: string): Promise<Passed>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "perdure-faults-"));
  const directory = join(folder, "worker");
  mkdirSync(directory);
  const manifest = await buildWorker(directory, ENTRY);
  const variables = {
    PERDURE_PROFILE: "development",
    PERDURE_TEST_CLOCK: "1",
    PERDURE_PRIVATE_TARGETS: "1",
    PERDURE_SHARDS: "2",
  };
  const settings = { variables, reachable: ["local"] };
  const running = await startWorker(join(folder, "data"), { ...manifest, directory }, settings);
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    // A connection that lay idle may be closed as it is used again.
    const init = {
      method: "POST",
      headers: { ...headers, Connection: "close" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${running.url}${path}`, {
      ...init,
      signal: AbortSignal.timeout(DOOR_MS),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
    return (await response.json()) as any;
  };
  return {
    url: running.url,
    async keyOf(tenant) {
      const body = { label: tenant, scopes: ["read", "write", "deploy", "admin"], tenant };
      const headers = {
        Authorization: "Bearer dev",
        "Content-Type": "application/json",
        "Idempotency-Key": tenant,
      };
      return (await post("/v1/keys", body, headers)).key as string;
    },
    async begin(tenant, outside, faults) {
      await post("/faults/begin", { tenant, outside, faults });
    },
    end: (tenant) => post("/faults/end", { tenant }),
    async stop() {
      await running.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
