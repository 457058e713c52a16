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

function itemsOf(page: Record<string, unknown> | undefined): Record<string, unknown>[] {
  return (page?.["items"] ?? []) as Record<string, unknown>[];
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

it("the README's migration, pasted as it stands, moves Alice by what she lived through, and not Bob", () => {
  const [session = ""] = blocks("README.md", "loan-v2");
  const [upTo = "", next = ""] = session.split("# Her next step");
  const [tools = ""] = session.split("\n\n");
  expect([tools, next].every((part) => part.includes("perdure"))).toBe(true);
  // It waits for the sweep, not for a time, and not for ever.
  expect(upTo).toMatch(/^while .*TRIES.* grep -q '"state":"sweeping"'; do sleep 1; done$/m);
  const answers = paste(upTo);
  expect(answers).toHaveLength(12);
  expect(answers.filter(({ code }) => code !== undefined)).toEqual([]);
  const [deployed, , , , , paid, waived, plan, second, listed, hers, his] = answers;
  expect(deployed).toMatchObject({ id: "loan-v1", rule: null });
  for (const sent of [paid, waived]) {
    expect(sent).toMatchObject({ stateValue: "awaiting_documents", definitionId: "loan-v1" });
  }

  // The dry run says what then comes.
  expect(plan).toMatchObject({
    total: 2,
    match: 1,
    pending: 0,
    diverged: 1,
    nearMisses: 0,
    unmappable: [],
    timers: { kept: 1, cancelled: 0, started: 0 },
    sampleIds: { match: ["alice"], pending: [], diverged: ["bob"], nearMisses: [] },
    warnings: [],
  });
  const line = { definitionId: "loan-v1", stateValue: "awaiting_documents", count: 1 };
  expect(plan?.["byState"]).toHaveLength(2);
  for (const one of [
    { ...line, targetStateValue: "awaiting_documents", class: "match" },
    { ...line, targetStateValue: null, class: "diverged" },
  ]) {
    expect(plan?.["byState"]).toContainEqual(one);
  }
  expect(second).toMatchObject({ id: "loan-v2", parentId: "loan-v1", idempotent: false });

  const [bob, alice] = itemsOf(listed);
  const docs = { stateValue: "awaiting_documents", status: "active", needsAttention: [] };
  expect(alice).toMatchObject({ id: "alice", definitionId: "loan-v2", ...docs });
  expect(bob).toMatchObject({ id: "bob", definitionId: "loan-v1", ...docs });
  const ruleId = (second?.["rule"] as { id: string } | undefined)?.id;
  const rule = { ruleId, from: "loan-v1", to: "loan-v2", decidedAtSeq: 3 };
  expect(hers?.["items"]).toMatchObject([{ ...rule, decision: "match", outcome: "migrated" }]);
  expect(his?.["items"]).toMatchObject([{ ...rule, decision: "diverged", outcome: "none" }]);

  // Moved, with the same context and due time; the months run from when she came to the state, not from the move.
  const look = (path: string) =>
    `curl -sS "$URL/actors/${path}" -H 'Authorization: Bearer dev'; echo`;
  const [now, log] = paste(tools, look("alice"), look("alice/events"));
  const [, , payment, move] = itemsOf(log);
  expect(move).toMatchObject({ kind: "migrated", payload: { ruleId } });
  const dueAt = new Date(Date.parse(String(payment?.["at"])) + 2_592_000_000).toISOString();
  expect(now).toMatchObject({
    seq: 4,
    context: { applicant: "Alice", amount: 12_000, feePaid: 50, documents: [], income: 0 },
    timers: [{ dueAt }],
    historyFingerprint: paid?.["historyFingerprint"],
  });

  const steps = paste(tools, next.replace(/^.*/, ""));
  expect(steps).toHaveLength(6);
  const last = { handled: true, migratedTo: null };
  expect(steps[2]).toMatchObject({ ...last, stateValue: "income_check", definitionId: "loan-v2" });
  expect(steps[5]).toMatchObject({ ...last, stateValue: "in_review", definitionId: "loan-v1" });
});

it.each(["loan", "approval"])("the %s's session goes on the same server after it", (example) => {
  const answers = paste(...blocks(`examples/${example}/README.md`, "curl"));
  expect(answers.length).toBeGreaterThan(8);
  expect(answers.filter(({ code }) => code !== undefined)).toEqual([]);
});
