import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../house/sources.ts";

/** What the demo must have checked, in its own words. */
const FACTS = [
  "approval-v1 is deployed",
  "loan-v1 is deployed",
  "Clara, the manager, approves; above 1,000 it goes to the CFO",
  "booking it now is not handled, and the answer says why",
  "it will be reminded after 24 h, escalated after 72 h, given up after 336 h",
  "the server was killed with SIGKILL while invoice-7 waited",
  "nothing was lost: it has the same 5 records",
  "it stands in the same state, at the CFO",
  "it has the same context",
  "its three due times are the same",
  "one event sent twice with one key is answered twice the same",
  "and acted once",
  "24 h later one reminder was sent",
  "invoice-7 still waits at the CFO",
  "it is booked, and done",
  "Ann paid, Bob's fee was waived: both await documents",
  "each service did its part once",
  "what was done for it is undone, newest first",
  "order-3 is charged, and the payment service hangs",
  "order-3 goes on by itself, and is completed",
  "so it charged once",
  "loan-ann: the log leads to the same actor",
];

let folder: string;
let ended: { code: number | null; stdout: string; stderr: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-demo-test-"));
  ended = await new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, TMPDIR: folder } };
    const child = execFile(
      process.execPath,
      [join(ROOT, "scripts/demo.ts")],
      options,
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("the demo ends with code 0 and says nothing on stderr", () => {
  expect(ended.stderr).toBe("");
  expect(ended.code).toBe(0);
});

it.each(FACTS)("it shows: %s", (text) => {
  expect(ended.stdout.split("\n")).toContain(`  ✓ ${text}`);
});

it("it shows two fingerprints that differ", () => {
  const [, ann, bob] =
    /fingerprints differ: ([\da-f]{16}) and ([\da-f]{16})$/m.exec(ended.stdout) ?? [];
  expect(ann).toMatch(/./);
  expect(ann).not.toBe(bob);
});

it("it counts what it checked", () => {
  const lines = ended.stdout.split("\n").filter((line) => line.startsWith("  ✓ "));
  expect(ended.stdout.trim().split("\n").at(-1)).toBe(`All ${lines.length} facts hold.`);
});

it("it leaves no data and no server behind", async () => {
  expect(readdirSync(folder)).toEqual([]);
  const addresses = [...ended.stdout.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(([url]) => url);
  expect(new Set(addresses).size).toBe(3);
  for (const url of addresses) await expect(fetch(url)).rejects.toThrow("fetch failed");
});

it("it ends and leaves nothing behind when nobody reads on", async () => {
  const options = { cwd: ROOT, env: { ...process.env, TMPDIR: folder } };
  const child = spawn(process.execPath, [join(ROOT, "scripts/demo.ts")], options);
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(first.toString()) ?? [];
  child.stdout.destroy();
  expect(await once(child, "close")).toEqual([1, null]);
  expect(said).toBe("");
  expect(readdirSync(folder)).toEqual([]);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});

it.each([
  ["--help", 0, "stdout"],
  ["--port=1", 1, "stderr"],
] as const)("with %s it says how it is used and plays nothing", (option, status, stream) => {
  const args = [join(ROOT, "scripts/demo.ts"), option];
  const run = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(run.status).toBe(status);
  expect(run[stream]).toContain("Usage: npm run demo");
  expect(run.stdout + run.stderr).not.toMatch(/✓|    at /);
});
