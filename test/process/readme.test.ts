import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { ROOT } from "../house/sources.ts";

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-readme-"));
  server = await startServer({ persistTo: folder });
});
afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** The shell blocks of a Markdown file that hold `word`, in order. */
function blocks(file: string, word: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const all = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? "");
  return all.filter((block) => block.includes(word));
}

/** Pastes into a shell that knows this server as its own; one answer per line. */
function paste(...sessions: string[]): Record<string, unknown>[] {
  const script = sessions
    .join("\n")
    .replaceAll("http://127.0.0.1:8787", server.url)
    .replaceAll(".perdure/", `${folder}/`);
  const printed = execFileSync("/bin/sh", ["-e"], { cwd: ROOT, input: script, encoding: "utf8" });
  const lines = printed.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("the README's session, pasted as it stands, does what the README says, and survives a kill", async () => {
  const [session = "", read = ""] = blocks("README.md", "curl");
  const answers = paste(session);
  expect(answers).toMatchObject([
    { id: "signature-v1", warnings: [] },
    { id: "contract-1", stateValue: "waiting", nextEvents: ["APPROVE", "REJECT"], seq: 1 },
    { handled: false, reason: "guard_false", seq: 2 },
    { handled: true, stateValue: "approved", done: true, seq: 3 },
    { handled: true, stateValue: "approved", done: true, seq: 3 },
    { id: "contract-2", stateValue: "waiting" },
    { id: "contract-2", stateValue: "expired", status: "done" },
    { items: [{ kind: "spawned" }, { reason: "guard_false" }, { handled: true }] },
  ]);
  expect(answers[4]).toEqual(answers[3]);

  const base = "URL=http://127.0.0.1:8787/v1";
  const before = paste(base, read);
  expect(before).toMatchObject([{ id: "contract-1", stateValue: "approved" }]);
  paste(...blocks("README.md", "kill -9"));
  expect(await server.exited).toEqual({ code: 1, signal: null });
  expect(server.said()).toContain("ended by itself (SIGKILL)");
  server = await startServer({ persistTo: folder });
  expect(paste(base, read)).toEqual(before);
});

it.each(["loan", "approval"])("the %s's session goes on the same server after it", (example) => {
  const answers = paste(...blocks(`examples/${example}/README.md`, "curl"));
  expect(answers.length).toBeGreaterThan(8);
  expect(answers.filter(({ code }) => code !== undefined)).toEqual([]);
});
