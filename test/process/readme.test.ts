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

it("the README's session, pasted as it stands, does what the README says, and survives a kill", async () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const sessions = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text ?? "");
  const session = sessions.find((text) => text.includes("curl")) ?? "";
  const script = session.replace("http://127.0.0.1:8787", server.url);
  expect(script).toContain(server.url);
  const printed = execFileSync("/bin/sh", ["-e"], { cwd: ROOT, input: script, encoding: "utf8" });
  const answers = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(answers).toMatchObject([
    { id: "approval-v1", warnings: [] },
    { id: "invoice-1", stateValue: "waiting", nextEvents: ["APPROVE", "REJECT"], seq: 1 },
    { handled: false, reason: "guard_false", seq: 2 },
    { handled: true, stateValue: "approved", done: true, seq: 3 },
    { handled: true, stateValue: "approved", done: true, seq: 3 },
    { id: "invoice-2", stateValue: "waiting" },
    { id: "invoice-2", stateValue: "expired", status: "done" },
    { items: [{ kind: "spawned" }, { reason: "guard_false" }, { handled: true }] },
  ]);
  expect(answers[4]).toEqual(answers[3]);

  const read = async (): Promise<unknown> => {
    const headers = { Authorization: "Bearer dev" };
    return (await fetch(`${server.url}/v1/actors/invoice-1`, { headers })).json();
  };
  const before = await read();
  await server.kill("SIGKILL");
  server = await startServer({ persistTo: folder });
  expect(await read()).toEqual(before);
});
