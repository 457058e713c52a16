import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../house/sources.ts";

/** One line that a session printed. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
export type Line = Record<string, any>;

/**
 * Pastes the shell session of an example's README, with the addresses of this test's servers in it; one answer per
 * line. This process goes on meanwhile: it may be the one that answers.
 */
export async function pasteSession(
  example: string,
  server: string,
  outside?: string,
): Promise<Line[]> {
  const readme = readFileSync(join(ROOT, "examples", example, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? "");
  const session = blocks.find((block) => block.includes("curl")) ?? "";
  let script = session.replaceAll("http://127.0.0.1:8787", server);
  if (!script.includes(server)) throw new Error(`${example}: no session that calls the server`);
  if (outside !== undefined) script = script.replaceAll("http://127.0.0.1:8790", outside);

  const shell = spawn("/bin/sh", ["-e"], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  shell.stdin.end(script);
  const [code] = (await once(shell, "close")) as [number | null];
  if (code !== 0) throw new Error(`${example}: the session ended with ${code}\n${printed}`);
  const lines = printed.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}
