import { spawn } from "node:child_process";
import { QUIET, ROOT, WRANGLER } from "./wrangler.ts";

/** `wrangler dev` in the development profile: reloads on save; several times slower than `npm start`. */
const variables = [
  "PERDURE_PROFILE:development",
  "PERDURE_TEST_CLOCK:1",
  "PERDURE_PRIVATE_TARGETS:1",
];
const flags = ["--var", ...variables, "--show-interactive-dev-session=false"];

const child = spawn(process.execPath, [WRANGLER, "dev", ...flags, ...process.argv.slice(2)], {
  cwd: ROOT,
  env: { ...process.env, ...QUIET },
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => process.exit(code ?? 1));
