import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { othersTurn } from "../base/pause.ts";
import { compileDefinition } from "../machine/compile.ts";
import { stepNames } from "../machine/step-names.ts";
import type { Db } from "../storage/db.ts";
import { findBody, hashesOfFamily } from "../storage/registry-definitions.ts";

/** Of a definition's content, which never changes. */
const names = new Lru<{ steps: string[] | null }>({ count: LIMITS.alphabetsCached });

/**
 * Every name that a step of an actor of a family can have, in all of its versions, retired ones too, sorted; null where a
 * wildcard lets anything in, or there are too many versions to look at.
 */
export function alphabetOf(db: Db | null, family: string): string[] | null {
  if (!db) return [];
  const hashes = hashesOfFamily(db, family, LIMITS.alphabetVersions + 1);
  if (hashes.length > LIMITS.alphabetVersions) return null;
  const all = new Set<string>();
  for (const hash of hashes) {
    const steps = stepsOf(db, hash);
    if (steps === null) return null;
    for (const step of steps) all.add(step);
  }
  return [...all].sort();
}

/** Has the isolate know the names before they are asked for where nobody may come between; a version in each turn. */
export async function learnAlphabet(stored: () => Db | null, family: string): Promise<void> {
  const db = stored();
  const hashes = db ? hashesOfFamily(db, family, LIMITS.alphabetVersions + 1) : [];
  if (hashes.length > LIMITS.alphabetVersions) return;
  for (const hash of hashes) {
    const open = stored();
    if (open === null || names.get(hash) !== undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await othersTurn();
    if (stepsOf(open, hash) === null) return;
  }
}

function stepsOf(db: Db, hash: string): string[] | null {
  const known = names.get(hash);
  if (known !== undefined) return known.steps;
  const json = findBody(db, hash);
  if (json === null) return null;
  const steps = stepNames(compileDefinition(JSON.parse(json) as JsonObject));
  names.set(hash, { steps });
  return steps;
}
