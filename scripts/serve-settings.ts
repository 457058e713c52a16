import { BlockList, isIP } from "node:net";
import { parseArgs } from "node:util";
import { Refusal } from "./refusal.ts";
import type { ServerSettings } from "./workerd.ts";

export type Profile = "development" | "production";

export interface ServeSettings extends ServerSettings {
  profile: Profile;
  /** As given, for messages. */
  persistTo: string;
}

export const USAGE = `Usage: npm start -- [options]       development: loopback only, the key is "dev"
       npm run serve -- [options]   production: needs PERDURE_ADMIN_KEY

  --port <number>      default 8787; 0 takes a free one
  --host <address>     default 127.0.0.1
  --persist-to <dir>   default .perdure`;

const SHORTEST_KEY = 16;
/** What an operator may decide about the directory of actors. */
const FLEET = ["PERDURE_SHARDS", "PERDURE_DIRECTORY", "PERDURE_WAKES_PER_SECOND"];
/** This machine and the network around it too. */
const EVERYWHERE = ["public", "private", "local"];

export function readSettings(args: string[], env: NodeJS.ProcessEnv): ServeSettings | "help" {
  const given = parse(args);
  if (given.help) return "help";
  const profile = given.profile === "development" ? "development" : "production";
  const port = Number(given.port);
  if (!/^\d{1,5}$/.test(given.port) || port > 65_535) {
    throw new Refusal(`--port ${given.port} is not a port: use 0 to 65535.`);
  }
  const settings = { profile, port, host: given.host, persistTo: given["persist-to"] } as const;
  return profile === "development"
    ? { ...settings, ...development(given.host) }
    : { ...settings, ...production(env) };
}

function development(host: string) {
  if (!isLoopback(host)) {
    throw new Refusal(
      `npm start serves the development profile, whose key everybody knows, so it listens on ` +
        `loopback only, not on ${host}. For a server that others reach: npm run serve.`,
    );
  }
  return {
    variables: {
      PERDURE_PROFILE: "development",
      PERDURE_TEST_CLOCK: "1",
      PERDURE_PRIVATE_TARGETS: "1",
    },
    fromEnvironment: ["CORS_ORIGINS", ...FLEET],
    reachable: EVERYWHERE,
  };
}

function production(env: NodeJS.ProcessEnv) {
  const key = env["PERDURE_ADMIN_KEY"] ?? "";
  if (key.length < SHORTEST_KEY) {
    const what = key === "" ? "is not set" : `is shorter than ${SHORTEST_KEY} characters`;
    throw new Refusal(
      `PERDURE_ADMIN_KEY ${what}. It is the first key of this server and makes all others. ` +
        "Make one with `openssl rand -hex 32`, keep it, and start again with it in the environment.",
    );
  }
  return {
    variables: { PERDURE_PROFILE: "production" },
    fromEnvironment: ["PERDURE_ADMIN_KEY", "CORS_ORIGINS", "PERDURE_PRIVATE_TARGETS", ...FLEET],
    reachable: env["PERDURE_PRIVATE_TARGETS"] === "1" ? EVERYWHERE : ["public"],
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        profile: { type: "string", default: "production" },
        port: { type: "string", default: "8787" },
        host: { type: "string", default: "127.0.0.1" },
        "persist-to": { type: "string", default: ".perdure" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function isLoopback(host: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  if (host === "localhost") return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}
