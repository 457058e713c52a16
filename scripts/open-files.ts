import { execFileSync } from "node:child_process";

/** Files that an awake actor has open: its database, and two beside it. */
const FILES_PER_ACTOR = 3;
/** Files of everything else: shards, the registry, sockets. */
const OTHER_FILES = 200;
/** s that workerd keeps an idle object awake. */
const AWAKE_S = 10;
/** Of the actors that may be awake, those that walks over the fleet wake; the rest is for who calls. */
const SHARE = 0.85;

/** Files that a process started from here may have open at once. */
export function openFilesAllowed(): number {
  const limit = execFileSync("/bin/sh", ["-c", "ulimit -H -n"], { encoding: "utf8" }).trim();
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}

/** Actors that sweeps and bulk operations may wake each second, so that files for others remain. */
export function wakesPerSecond(openFiles: number): number {
  const awake = Math.max(0, openFiles - OTHER_FILES) / FILES_PER_ACTOR;
  return Math.max(1, Math.floor((awake * SHARE) / AWAKE_S));
}
