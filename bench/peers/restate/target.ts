import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../../../scripts/refusal.ts";
import { wireRequest } from "../../connection.ts";
import { expectAnswer } from "../../target.ts";
import type { Running } from "../../target.ts";
import { EVENTS } from "../../workload.ts";
import { fileOf, installPackages, versionOf } from "../install.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, startProcess } from "../started-process.ts";
import { OUTCOME, PLAIN_WIRE } from "../wire.ts";

const SERVER = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
const JSON_BODY = { "Content-Type": "application/json" };

/** A virtual object for each loan, called through Restate's own HTTP ingress; all settings are the defaults. */
export const restate: Peer = {
  ...PLAIN_WIRE,
  key: "restate",
  keyed: true,
  name: "Restate",
  prepare: installPackages,
  versions: () =>
    `restate-server ${versionOf("@restatedev/restate-server")}, ` +
    `restate-sdk ${versionOf("@restatedev/restate-sdk")}, xstate ${versionOf("xstate")}, node ${process.version.slice(1)}`,
  start,
  trivial: wireRequest("GET", "/restate/health", {}),
  create: (id) => wireRequest("POST", `/Loan/${id}/create`, { "Idempotency-Key": `spawn-${id}` }),
  checkCreated: (id, answer) => expectAnswer(answer, 200, { id, seq: 1, state: "collecting_info" }),
  event: (id, index) =>
    wireRequest(
      "POST",
      `/Loan/${id}/event`,
      { ...JSON_BODY, "Idempotency-Key": `event-${index}` },
      EVENTS[index],
    ),
  outcome: {
    read: (id) => wireRequest("POST", `/Loan/${id}/read`, {}),
    check: (id, answer) => expectAnswer(answer, 200, { id, ...OUTCOME }),
  },
};

async function start(directory: string): Promise<Running> {
  mkdirSync(directory, { recursive: true });
  const [servicePort, ingress, admin, node] = await Promise.all([1, 2, 3, 4].map(freePort));
  const service = startProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, "service.js")],
    env: { BENCH_PORT: String(servicePort), NODE_ENV: "production" },
  });
  const server = startProcess({
    command: fileOf(SERVER),
    args: ["--base-dir", directory, "--node-name", "bench", "--listen-mode", "tcp", "--no-logo"],
    env: {
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FILTER: "error",
      DO_NOT_TRACK: "1",
    },
  });
  const url = `http://127.0.0.1:${ingress}`;
  const end = async () => {
    await Promise.all([server.end(), service.end()]);
  };
  try {
    await server.ready(() => answers(`http://127.0.0.1:${admin}/health`));
    await server.ready(() => answers(`${url}/restate/health`));
    await service.ready(() =>
      register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${servicePort}`),
    );
    return { url, pid: server.pid, alongside: [service.pid], end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function register(admin: string, uri: string): Promise<boolean> {
  const response = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: JSON_BODY,
    body: JSON.stringify({ uri, force: true }),
  });
  const said = await response.text();
  // The service may not listen yet.
  if (response.status >= 400 && response.status < 500) throw new Refusal(`Restate says: ${said}`);
  return response.ok;
}
