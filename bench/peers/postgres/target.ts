import { join } from "node:path";
import { installPackages, versionOf } from "../install.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, startProcess } from "../started-process.ts";
import { PLAIN_WIRE } from "../wire.ts";
import { databaseVersion, startDatabase } from "./database.ts";

/** Of the server to the database; requests beyond wait for one of them, as in any pool. */
const CONNECTIONS = 32;

/** XState by hand, each event one transaction of PostgreSQL. */
export const postgres: Peer = {
  ...PLAIN_WIRE,
  key: "postgres",
  keyed: true,
  name: "XState + PostgreSQL",
  prepare: installPackages,
  versions: () =>
    `${databaseVersion()}, pg ${versionOf("pg")}, xstate ${versionOf("xstate")}, node ${process.version.slice(1)}`,
  async start(directory) {
    const database = await startDatabase(directory, CONNECTIONS);
    const port = await freePort();
    const server = startProcess({
      command: process.execPath,
      args: [join(import.meta.dirname, "server.js")],
      env: { ...database.env, BENCH_PORT: String(port), BENCH_CONNECTIONS: String(CONNECTIONS) },
    });
    const end = async () => {
      await server.end();
      await database.process.end();
    };
    const url = `http://127.0.0.1:${port}`;
    try {
      await server.ready(() => answers(url));
    } catch (error) {
      await end();
      throw error;
    }
    return { url, pid: server.pid, alongside: [database.process.pid], end };
  },
};
