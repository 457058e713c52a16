import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Lab } from "../../bench/lab.ts";
import type { Peer } from "../../bench/peers/peer.ts";
import { startProcess } from "../../bench/peers/started-process.ts";
import { tryPeers } from "../../bench/peers/trial.ts";
import { PLAIN_WIRE } from "../../bench/peers/wire.ts";
import { treesCpuSeconds, treesPeakMegabytes } from "../../bench/process-trees.ts";
import { EVENTS, STATES } from "../../bench/workload.ts";
import { Refusal } from "../../scripts/refusal.ts";
import { ROOT } from "../house/sources.ts";
import { runQuickly } from "../support/quick-bench.ts";

describe("the benchmark with peers", () => {
  it("measures Perdure beside those that were chosen, and installs nothing for the bare object", () => {
    const small = ["--instances", "6", "--clients", "2"];
    const stdout = runQuickly("bench/peers/run.ts", "--peers", "bare", ...small);
    const rate = String.raw`\d+ +\(\d+–\d+\)`;
    const ratio = String.raw`[\d.]+ +\([\d.]+–[\d.]+\)`;
    const times = String.raw`[\d.]+ +[\d.]+ +[\d.]+ +\d+ %`;
    for (const mode of ["Mixed", "Phased", "Creates", "Ceiling"]) {
      const perdure = String.raw` +2 +Perdure +${rate} +${times}`;
      const alone = String.raw` +no directory +${rate} +${times}`;
      const bare = String.raw` +bare object +${rate} +${ratio} +${ratio} +${times}`;
      expect(stdout).toMatch(new RegExp(`^${mode}:.*\n.*\n${perdure}\n${alone}\n${bare}$`, "m"));
    }
    expect(stdout).toMatch(/^bare object: workerd \d/m);
    expect(stdout).toMatch(/^Peak memory .*\n.*\n +2 +\d+ +\d+ +\d+$/m);
  });
});

describe("the trial before the rounds", () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  /** A peer that is right in all but what `faults` names. */
  function peer(faults: { prepare?: () => void; forgetsKeys?: boolean; loses?: boolean }): Peer {
    const keys = new Set<string>();
    const answerTo = (method: string, url: string, key: string) => {
      if (method === "GET")
        return { seq: EVENTS.length + (faults.loses ? 0 : 1), state: STATES[3] };
      if (!url.endsWith("/events")) return { seq: 1, state: "collecting_info" };
      const seq = keys.has(key) && faults.forgetsKeys ? keys.size + 2 : keys.add(key).size + 1;
      return { seq, state: STATES[seq - 2] };
    };
    return {
      ...PLAIN_WIRE,
      key: "peer",
      keyed: true,
      name: "Peer",
      prepare: faults.prepare ?? (() => {}),
      versions: () => "",
      start: () =>
        new Promise((resolve) => {
          const server = createServer(({ method = "", url = "", headers }, response) => {
            const key = String(headers["idempotency-key"]);
            const body = JSON.stringify({ id: "trial", ...answerTo(method, url, key) });
            const isCreate = method === "POST" && !url.endsWith("/events");
            response.writeHead(isCreate ? 201 : 200, { "Content-Length": body.length });
            response.end(body);
          });
          servers.push(server);
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo;
            resolve({ url: `http://127.0.0.1:${port}`, pid: process.pid, end: async () => {} });
          });
        }),
    };
  }

  const tried = (...peers: Peer[]) => Lab.use((lab) => tryPeers(lab, peers));

  it("leaves out who cannot start, and says why", async () => {
    const missing = () => {
      throw new Refusal("it is not on this machine");
    };
    const right = peer({});
    const { takePart, sentences } = await tried(peer({ prepare: missing }), right);
    expect(takePart).toEqual([right]);
    expect(sentences).toEqual(["Peer is left out: it is not on this machine"]);
  });

  it("ends the run when a key acts twice", async () => {
    await expect(tried(peer({ forgetsKeys: true }))).rejects.toThrow(/^Wrong answer: 200 /);
  });

  it("ends the run when an acknowledged event is not there afterwards", async () => {
    await expect(tried(peer({ loses: true }))).rejects.toThrow(/^Wrong answer: 200 /);
  });
});

describe("a peer's process", () => {
  it("that ends at its start is reported with what it said", async () => {
    const started = startProcess({ command: "/bin/sh", args: ["-c", "echo no disk >&2; exit 3"] });
    await expect(started.ready(() => false)).rejects.toThrow("/bin/sh ended at its start: no disk");
  });

  it("counts with all that it started, what has ended included", async () => {
    const burn = "while (process.cpuUsage().user < 300_000);";
    const child = spawn(process.execPath, [
      "-e",
      `require("node:child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(burn)}]);
       console.log("burnt"); process.stdin.resume();`,
    ]);
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const root = child.pid ?? 0;
      expect(treesCpuSeconds([root])).toBeGreaterThanOrEqual(0.29);
      const [own, all] = [[root], [process.pid]].map((roots) => treesPeakMegabytes(roots) ?? 0);
      expect(own).toBeGreaterThan(0);
      expect(all).toBeGreaterThan(own ?? Number.NaN);
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("the loan that peers play", () => {
  it("is written by hand and goes where the example's machine goes", async () => {
    const { afterEvent, newLoan } = await import(join(ROOT, "bench/peers/loan.js"));
    const loan = EVENTS.map((event) => JSON.parse(event)).reduce(afterEvent, newLoan());
    expect(loan.state).toBe(STATES.at(-1));
    const context = { applicant: "Ann", amount: 12_000, feePaid: 50, feeWaivedBy: null };
    const documents = ["passport.pdf", "payslip.pdf"];
    expect(loan.context).toEqual({ ...context, documents, decidedBy: null, reason: null });
    const events = [{ type: "SUBMIT_DOCUMENTS" }, { type: "APPROVE", payload: { by: "Dora" } }];
    expect(events.reduce(afterEvent, loan)).toMatchObject({
      state: "approved",
      context: { decidedBy: "Dora" },
    });
    expect(afterEvent(newLoan(), { type: "PAY_FEE", payload: { amount: 50 } })).toEqual(newLoan());
  });
});
