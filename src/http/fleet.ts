import { PerdureError } from "../base/errors.ts";
import { keepsDirectory } from "../directory/shards.ts";
import type { Env } from "../env.ts";

/** Refuses what needs the directory of actors where the server keeps none. */
export function requireDirectory(env: Env): void {
  if (keepsDirectory(env)) return;
  throw new PerdureError(
    "not_configured",
    "This server keeps no directory of actors (PERDURE_DIRECTORY=off), so they cannot be listed, counted or found by a reference; call them by id.",
  );
}
