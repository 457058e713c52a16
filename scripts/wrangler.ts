import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { Refusal } from "./refusal.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const WRANGLER = fileURLToPath(
  new URL("bin/wrangler.js", import.meta.resolve("wrangler/package.json")),
);

/** Wrangler without telemetry, update check, banner, log files or questions. */
export const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_WRITE_LOGS: "false",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Runs wrangler in the project; what it says is shown only if it fails. */
export async function wrangler(args: string[]): Promise<string> {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, CI: "1", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (said += chunk));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0)
    throw new Refusal(
      `wrangler ${args[0]} failed (${code}):\n${stripVTControlCharacters(said).trim()}`,
    );
  return said;
}
