import { hexOf } from "../base/hex.ts";
import { LIMITS } from "../base/limits.ts";
import type { Db } from "../storage/db.ts";
import { fixSetting, readSetting } from "../storage/registry-settings.ts";

const SHARDS = "directory_shards";
const STREAM_SECRET = "stream_secret";
const CONFIRM_SECRET = "confirm_secret";

/** The count of shards, decided by the first spawn and never changed: entries would be looked for elsewhere. */
export function shards(
  stored: Db | null,
  open: () => Db,
  fix: boolean,
  configured: string | undefined,
): number | null {
  const known = stored && readSetting(stored, SHARDS);
  if (known !== null) return Number(known);
  return fix ? Number(fixSetting(open(), SHARDS, String(wanted(configured)))) : null;
}

/** A configuration that makes no sense is as good as none; it must not keep anybody from spawning. */
function wanted(configured: string | undefined): number {
  const count = Number(configured ?? "");
  const sensible = Number.isInteger(count) && count >= 1 && count <= LIMITS.directoryShardsMost;
  return sensible ? count : LIMITS.directoryShards;
}

/** 256 random bits in hex by which this tenant's stream tokens are signed; null where none were made and `make` is not asked. */
export function streamSecret(stored: Db | null, open: () => Db, make: boolean): string | null {
  const known = stored && readSetting(stored, STREAM_SECRET);
  return known !== null || !make ? known : fixSetting(open(), STREAM_SECRET, newSecret());
}

/** 256 random bits in hex by which this tenant's confirm tokens are signed, made now if need be. */
export function confirmSecret(stored: Db | null, open: () => Db): string {
  const known = stored && readSetting(stored, CONFIRM_SECRET);
  return known ?? fixSetting(open(), CONFIRM_SECRET, newSecret());
}

function newSecret(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(32)));
}
