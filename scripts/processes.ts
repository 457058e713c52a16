import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** The command line of a living process, or nothing. */
export function commandOf(pid: number): string {
  if (!isAlive(pid)) return "";
  // Small images of Linux have no `ps`, macOS has no `/proc`.
  if (existsSync("/proc/self/cmdline")) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  }
  return spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
