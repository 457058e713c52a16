import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../house/sources.ts";

/** Runs the quick profile of a benchmark; answers what it printed. Nothing of it may be left behind. */
export function runQuickly(script: string, ...options: string[]): string {
  const temporary = mkdtempSync(join(tmpdir(), "perdure-bench-test-"));
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, script), "--quick", ...options],
      { encoding: "utf8", env: { ...process.env, TMPDIR: temporary } },
    );
    const said = stderr.replace(/^Building the Worker.*\n/m, "");
    expect({ status, said }).toEqual({ status: 0, said: "" });
    expect(stdout.trim().split("\n").at(-1)).toContain("these figures mean nothing");
    expect(readdirSync(temporary)).toEqual([]);
    return stdout;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}
