import * as fc from "fast-check";
import { LIMITS } from "../../src/base/limits.ts";
import { codeBatch } from "../../src/fingerprint/kernel.ts";
import { packSteps } from "../../src/lifecycle/steps.ts";
import { compile } from "../../src/migration/compile.ts";
import type { Compiled, Hashes } from "../../src/migration/compile.ts";
import { MATCHES, parsePattern } from "../../src/migration/pattern.ts";
import type { Pattern } from "../../src/migration/pattern.ts";
import type { Written } from "./history-reference.ts";

export const EVENTS = ["A", "B", "C", "D"];
export const SYSTEM = ["@timer:waiting:5000", "@timer:a.b:soon", "@done:charge", "@error:charge"];
export const ALPHABET: ReadonlySet<string> = new Set([...EVENTS, ...SYSTEM]);

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...EVENTS) },
  { weight: 1, arbitrary: fc.constantFrom(...SYSTEM) },
);

/** Steps of an actor, those of the system included. */
export const history = fc.array(name, { maxLength: 12 });

/** Histories around the length at which packed ones are cut. */
export const longHistory = fc.array(name, {
  minLength: LIMITS.historySteps - 3,
  maxLength: LIMITS.historySteps + 6,
});

const groups = fc.array(
  fc.record({ not: fc.array(name, { maxLength: 2 }), name }).filter((g) => !g.not.includes(g.name)),
  { minLength: 1, maxLength: 4 },
);

/** Rules of every kind that are valid. */
export const written: fc.Arbitrary<Written> = fc
  .constantFrom(...MATCHES)
  .chain((match): fc.Arbitrary<Written> => {
    if (match === "all") return fc.constant({ match, historyPath: [] });
    if (match === "subsequence") {
      return groups.map((all) => ({
        match,
        historyPath: all.flatMap(({ not, name }) => [...not.map((one) => `!${one}`), name]),
      }));
    }
    const minLength = match === "exact" ? 0 : 1;
    return fc
      .array(name, { minLength, maxLength: 4 })
      .map((historyPath) => ({ match, historyPath }));
  });

/** A rule and a history that has a fair chance to fit it: pieces of its path among other steps. */
export const ruleAndHistory = written.chain((rule) => {
  const path = rule.historyPath.filter((one) => !one.startsWith("!"));
  const along = fc
    .array(fc.array(fc.constantFrom(...EVENTS, ...SYSTEM), { maxLength: 1 }), {
      minLength: path.length + 1,
      maxLength: path.length + 1,
    })
    .map((between) => between.flatMap((some, i) => (i < path.length ? [...some, path[i]!] : some)));
  const exactly = history.map((rest) => [...path, ...rest.slice(0, 3)]);
  return fc.tuple(fc.constant(rule), fc.oneof(history, along, exactly));
});

function patternOf(rule: Written): Pattern {
  const parsed = parsePattern(rule);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.pattern;
}

export function compiled(
  rule: Written,
  alphabet: ReadonlySet<string> | null = null,
  hashes?: Hashes,
): Compiled {
  return compile(patternOf(rule), alphabet, hashes);
}

/** As the actor packs it. */
export function packed(types: readonly string[]): string {
  return packSteps(
    "",
    types.map((type) => ({ type, handled: true })),
  );
}

/** A hash with so few values that types collide all the time, and all fingerprints. */
export function collidingHashes(values: number): Hashes {
  return {
    codes: (types) => codeBatch(types).map((code) => (code >>> 8) % values),
    fingerprint: () => "0000000000000000",
  };
}

/** The same codes in packed steps, cut as the actor cuts them. */
export function packedBy(hashes: Hashes, types: readonly string[]) {
  const first = types.slice(0, LIMITS.historySteps);
  const steps = new Uint8Array(first.length * 5);
  const view = new DataView(steps.buffer);
  for (const [i, code] of hashes.codes(first).entries()) {
    view.setUint8(i * 5, first[i]!.startsWith("@") ? 1 : 0);
    view.setUint32(i * 5 + 1, code);
  }
  return { steps, lengths: Uint8Array.of(first.length) };
}
