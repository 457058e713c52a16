/**
 * How long it takes to decide an actor's migration on its packed codes: `npm run bench:decide`.
 * The module in WebAssembly next to the same C compiled natively, over the same histories.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decideHistories } from "../src/fingerprint/decide-histories.ts";
import type { CodeAutomaton, PackedHistories } from "../src/fingerprint/decide-histories.ts";
import { automaton, results } from "../src/fingerprint/module.ts";
import { codeBatch } from "../src/fingerprint/kernel.ts";
import { compile } from "../src/migration/compile.ts";
import { decideBatch } from "../src/migration/decide.ts";
import { joinHistories } from "../src/migration/packed-histories.ts";
import { parsePattern } from "../src/migration/pattern.ts";
import { median } from "./statistics.ts";
import { table } from "./table.ts";

const ACTORS = 50_000;
const EVENTS = 10;
const TURNS = 7;
/** In one turn. The clock of a thread's processor time ticks every few ms. */
const ROUNDS = 100;
const WARM_UP = 5;
const GOAL_NS = 30;
const GOAL_RATIO = 1.5;

const TYPES = ["SUBMIT", "PAY_FEE", "WAIVE_FEE", "ADD_DOCUMENT", "ASK", "REPLY", "SIGN", "CLOSE"];
const RULES = [
  { match: "prefix", historyPath: ["SUBMIT", "PAY_FEE", "ADD_DOCUMENT"] },
  { match: "exact", historyPath: ["SUBMIT", "PAY_FEE", "SIGN"] },
  { match: "subsequence", historyPath: ["PAY_FEE", "SIGN"] },
  { match: "subsequence", historyPath: ["SUBMIT", "!WAIVE_FEE", "PAY_FEE", "!CLOSE", "SIGN"] },
  // Nobody has this name, so every step of every history is read.
  { match: "subsequence", historyPath: ["SUBMIT", "PAY_FEE", "NEVER"] },
  // The longest path that there may be.
  { match: "subsequence", historyPath: Array.from({ length: 64 }, (_, i) => `T${i}`) },
] as const;

const folder = mkdtempSync(join(tmpdir(), "perdure-decide-"));
try {
  run();
} finally {
  rmSync(folder, { recursive: true });
}

function run(): void {
  const histories = randomHistories();
  const native = buildNative();
  const load = () => loadavg()[0]?.toFixed(1) ?? "?";
  const loadBefore = load();
  const rows: string[][] = [];
  let slowest = 0;
  let worstRatio = 0;
  for (const rule of RULES) {
    const parsed = parsePattern(rule);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const { table: one } = compile(parsed.pattern);
    const file = join(folder, "input");
    if (native !== null) writeFileSync(file, nativeInput(one, histories));
    const here: number[] = [];
    const there: number[] = [];
    let checksum = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      const measured = measure(one, histories);
      here.push(measured.ns);
      checksum = measured.checksum;
      if (native === null) continue;
      const [mean, sum] = execFileSync(native, [file, String(ROUNDS)], { encoding: "utf8" })
        .trim()
        .split(" ")
        .map(Number);
      if (sum !== checksum) throw new Error("The module and the native code disagree");
      there.push(mean ?? Number.NaN);
    }
    const ratio = median(here) / median(there);
    slowest = Math.max(slowest, median(here));
    worstRatio = Math.max(worstRatio, ratio);
    rows.push([
      `${rule.match} ${rule.historyPath.join(" ").slice(0, 45)}`,
      median(here).toFixed(1),
      native === null ? "–" : median(there).toFixed(1),
      native === null ? "–" : ratio.toFixed(2),
    ]);
  }
  console.log(
    [
      `${ACTORS} actors with histories of ${EVENTS} events of ${TYPES.length} types at random; ns of processor time per actor, median of ${TURNS} turns of ${ROUNDS} rounds`,
      `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), node ${process.version.slice(1)}, load ${loadBefore} before and ${load()} after`,
      table([["rule", "wasm", "native", "ratio"], ...rows], [0]),
      `Slowest: ${slowest.toFixed(1)} ns (goal ${GOAL_NS})${native === null ? "; no native compiler (cc, gcc or clang) is on the PATH, so nothing to compare with" : `; worst ratio ${worstRatio.toFixed(2)} (goal ${GOAL_RATIO})`}`,
      fromTheDirectory(),
    ].join("\n\n"),
  );
}

function measure(one: CodeAutomaton, histories: PackedHistories) {
  for (let round = 0; round < WARM_UP; round++) decideHistories([one], histories);
  const from = process.threadCpuUsage();
  for (let round = 0; round < ROUNDS; round++) decideHistories([one], histories);
  const { user, system } = process.threadCpuUsage(from);
  const [answer] = decideHistories([one], histories);
  const checksum = answer === undefined ? 0 : checksumOf(answer.outcomes, answer.at);
  return { ns: ((user + system) * 1_000) / ACTORS / ROUNDS, checksum };
}

function checksumOf(...lists: Uint8Array[]): number {
  let hash = 0x811c9dc5;
  for (const list of lists) {
    for (const byte of list) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

/** What a plan pays: base64 as entries have it, all rules at once, each answer read. */
function fromTheDirectory(): string {
  const histories = randomHistories();
  const entries = Array.from({ length: ACTORS }, (_, i) =>
    Buffer.from(histories.steps.subarray(i * EVENTS * 5, (i + 1) * EVENTS * 5)).toString("base64"),
  );
  const rules = RULES.flatMap((rule) => {
    const parsed = parsePattern(rule);
    return parsed.ok ? [compile(parsed.pattern)] : [];
  });
  const times = Array.from({ length: TURNS }, () => {
    const from = performance.now();
    const screenings = decideBatch(rules, joinHistories(entries));
    let sure = 0;
    for (const screening of screenings) {
      for (let i = 0; i < screening.length; i++) sure += screening.of(i).sure ? 1 : 0;
    }
    if (sure === 0) throw new Error("Nothing was decided");
    return performance.now() - from;
  });
  return `${ACTORS} entries from base64 to ${rules.length} rules' answers, one by one: ${median(times).toFixed(0)} ms`;
}

/** Of xorshift with a fixed seed: the same in every run. */
function randomHistories(): PackedHistories {
  const codes = codeBatch(TYPES);
  const view = new DataView(new ArrayBuffer(ACTORS * EVENTS * 5));
  let random = 2_463_534_242;
  for (let i = 0; i < ACTORS * EVENTS; i++) {
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    // Every history begins alike, as an application's histories do.
    const type = i % EVENTS === 0 ? 0 : (random >>> 8) % TYPES.length;
    view.setUint32(i * 5 + 1, codes[type] ?? 0);
  }
  const lengths = new Uint8Array(ACTORS).fill(EVENTS);
  return { steps: new Uint8Array(view.buffer), lengths };
}

/** The struct that the module loads, taken from its memory, and the histories behind it. */
function nativeInput(one: CodeAutomaton, histories: PackedHistories): Uint8Array {
  decideHistories([one], { steps: new Uint8Array(0), lengths: Uint8Array.of(0) });
  const { sizes, next } = automaton;
  const size = next.byteOffset + next.length - sizes.byteOffset;
  const struct = new Uint8Array(results.buffer, sizes.byteOffset, size);
  const counts = new Uint8Array(Uint32Array.of(ACTORS, ACTORS * EVENTS).buffer);
  return Buffer.concat([struct, counts, histories.lengths, histories.steps]);
}

/** The path of the compiled program; null where there is no compiler. */
function buildNative(): string | null {
  const output = join(folder, "decide");
  const root = fileURLToPath(new URL("..", import.meta.url));
  const sources = ["bench/native/decide.c", "wasm/decide.c", "wasm/fingerprint.c"];
  for (const compiler of ["cc", "gcc", "clang"]) {
    const args = ["-std=gnu17", "-O3", ...sources, "-o", output];
    const { error, status, stderr } = spawnSync(compiler, args, { cwd: root, encoding: "utf8" });
    if (error !== undefined) continue;
    if (status !== 0) throw new Error(`${compiler} failed: ${stderr}`);
    return output;
  }
  return null;
}
