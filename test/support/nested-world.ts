import * as fc from "fast-check";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { definitionOf, worlds } from "./migration-world.ts";
import type { Version, World } from "./migration-world.ts";

/**
 * Worlds whose machines have two regions and a compound with a history state: the flat machine of a world's version is
 * one region, that of the next version is inside the other. Mappings are drawn over both, and over what is around them.
 */
export interface NestedWorld extends World {
  definitions: { [version: string]: JsonObject };
}

const TURN = ["E", "F"] as const;

/** Of the second region: `on` (the other flat machine, with a timer around it) and `off`, which comes back by history. */
function definition(first: Version, second: Version, delayMs: number, deep: boolean): JsonObject {
  const { initial, states } = regionOf(second);
  const back = { type: "history", history: deep ? "deep" : "shallow" };
  return {
    id: "case",
    type: "parallel",
    states: {
      file: regionOf(first),
      alarm: {
        initial: "on",
        states: {
          on: {
            initial,
            states: { ...states, back },
            on: { [TURN[0]]: "off" },
            after: { [delayMs]: "off" },
          },
          off: { on: { [TURN[1]]: "on.back" } },
        },
      },
    },
  };
}

function regionOf(version: Version): { initial: string; states: JsonObject } {
  const { initial, states } = definitionOf(version);
  return { initial: initial as string, states: states as JsonObject };
}

/** Flat worlds without stops, made nested. */
export const nestedWorlds: fc.Arbitrary<NestedWorld> = fc
  .record({
    world: worlds(false),
    delays: fc.array(fc.constantFrom(400, 1_500, 6_000), { minLength: 4, maxLength: 4 }),
    deep: fc.boolean(),
    turns: fc.array(fc.constantFrom(...TURN, null, null), { minLength: 25, maxLength: 25 }),
    // Where a rule's flat mapping is about: one region, the other one, or neither.
    places: fc.array(fc.constantFrom("file", "alarm.on", null), { minLength: 5, maxLength: 5 }),
  })
  .map(({ world, delays, deep, turns, places }) => {
    const { versions } = world;
    const definitions = Object.fromEntries(
      versions.map((version, n) => [
        version.id,
        definition(
          version,
          versions[(n + 1) % versions.length] as Version,
          delays[n] as number,
          deep,
        ),
      ]),
    );
    const nodes = new Map(
      Object.entries(definitions).map(([id, one]) => [id, compileDefinition(one).nodes]),
    );
    let rule = 0;
    const changes = world.changes.map((change) => {
      if (change.kind !== "deploy") return change;
      const place = places[rule++ % places.length];
      const { from, to, historyPath, stateMapping: flat } = change.rule;
      const mapped = Object.entries(flat).flatMap(([old, next]) => {
        const pair = [`${place}.${old}`, `${place}.${next}`] as const;
        const known = nodes.get(from)?.has(pair[0]) === true && nodes.get(to)?.has(pair[1]);
        return known === true && place !== null ? [pair] : [];
      });
      const path = historyPath.map((name) => name.replace("@timer:idle", "@timer:file.idle"));
      const stateMapping = Object.fromEntries(mapped);
      return { ...change, rule: { ...change.rule, historyPath: path, stateMapping } };
    });
    const happenings = world.happenings.map((one, n) => {
      const turn = turns[n] ?? null;
      return one.kind === "event" && turn !== null ? { ...one, type: turn } : one;
    });
    return { ...world, changes, happenings, definitions };
  });
