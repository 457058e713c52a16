import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StateValue } from "../../src/machine/types.ts";
import type { Move } from "../../src/migration/rule.ts";
import { drivenLife } from "../support/migration-driver.ts";
import type { Driven } from "../support/migration-driver.ts";
import type { Happening } from "../support/migration-world.ts";
import { LEASE_MS } from "../support/migration-world.ts";
import { nestedWorlds } from "../support/nested-world.ts";
import type { NestedWorld } from "../support/nested-world.ts";

interface Node {
  type?: string;
  states?: { [name: string]: Node };
  after?: { [delay: string]: unknown };
}

const RUNS = 300;

const live = (world: NestedWorld) => drivenLife(world, world.definitions);

describe("an actor in regions and nested states that rules move", () => {
  it("lands leaf by leaf as the mapping says, or is refused because a leaf has no place", () => {
    let landed = 0;
    let refused = 0;
    fc.assert(
      fc.property(nestedWorlds, (world) => {
        const { log } = live(world);
        for (const [n, record] of log.entries()) {
          if (record.kind !== "migrated") continue;
          const { to, stateMapping } = record.payload as unknown as Move;
          const before = log[n - 1]!.stateValue;
          const wanted = leaves(before).map((leaf) => mapped(leaf, stateMapping));
          const missing = wanted.some((leaf) => !has(world.definitions[to] as Node, leaf));
          expect(record.error !== null).toBe(missing);
          const after = missing ? leaves(before) : wanted;
          expect(leaves(record.stateValue).toSorted()).toEqual(after.toSorted());
          if (missing) refused += 1;
          else landed += 1;
        }
      }),
      { numRuns: RUNS },
    );
    expect(landed).toBeGreaterThan(50);
    expect(refused).toBeGreaterThan(0);
  });

  it("is always in a state of its version that is whole, with timers that this state has", () => {
    fc.assert(
      fc.property(nestedWorlds, (world) => {
        const { log, actor } = live(world);
        let version = "v1";
        for (const record of log) {
          const { kind, error, payload, stateValue } = record;
          if (kind === "migrated" && error === null) version = (payload as { to: string }).to;
          expect(isWhole(world.definitions[version] as Node, stateValue)).toBe(true);
        }
        const { definitionId, timers, machine } = actor.envelope;
        expect(definitionId).toBe(version);
        const keys = timers.map((timer) => {
          if (timer.kind !== "after") throw new Error(timer.kind);
          const { state, delay } = timer;
          expect(leaves(machine.value).some((leaf) => `${leaf}.`.startsWith(`${state}.`))).toBe(
            true,
          );
          const node = at(world.definitions[version] as Node, state);
          expect(Object.keys(node?.after ?? {})).toContain(delay);
          return `${state} ${delay}`;
        });
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: RUNS },
    );
  });

  it("has the same records and snapshot, but for the times of moves, however it is visited", () => {
    let differently = 0;
    const drawn = fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 50, maxLength: 50 });
    fc.assert(
      fc.property(nestedWorlds.map(promptly), drawn, (world, repeats) => {
        const one = live(world);
        const happenings = world.happenings.flatMap((happening, n): Happening[] => {
          const { at: time, epoch } = happening;
          if (happening.kind === "crash") return [happening];
          const more = Array.from({ length: repeats[n] ?? 0 }, (_, k): Happening => {
            return {
              at: time,
              epoch,
              ...(k === 0 ? { kind: "visit" } : { kind: "crash", type: "A" }),
            };
          });
          // What made no input is left out, or comes once, or more often.
          return one.made[n] === true ? [happening, ...more] : more;
        });
        const other = live({ ...world, happenings });
        expect(timeless(other)).toEqual(timeless(one));
        if (other.log.some(({ at: time }, n) => time !== one.log[n]!.at)) differently += 1;
      }),
      { numRuns: RUNS },
    );
    expect(differently).toBeGreaterThan(0);
  });
});

/** Visited as soon as a change is in force, after what was due before. */
function promptly(world: NestedWorld): NestedWorld {
  const visits = world.changes.flatMap(({ at: time }, n): Happening[] => [
    { at: time + LEASE_MS - 1, epoch: n, kind: "visit" },
    { at: time + LEASE_MS, epoch: n + 1, kind: "visit" },
  ]);
  let last = 0;
  const happenings = [...world.happenings, ...visits]
    .toSorted((a, b) => a.at - b.at)
    .map((happening) => {
      last = Math.max(last, happening.epoch);
      return { ...happening, epoch: last };
    });
  return { ...world, happenings };
}

/** What the theorem says is the same. */
function timeless({ inputs, log, actor }: Driven) {
  const { at: _at, epoch: _epoch, moves, timers, ...envelope } = actor.envelope;
  return {
    inputs,
    records: log.map(({ seq, kind, type, stateValue, error }) => [
      seq,
      kind,
      type,
      stateValue,
      error,
    ]),
    envelope,
    moves: moves.map((mark) => ({ ...mark, at: null })),
    timers: timers.map((timer) => ({ ...timer, armedAt: null })),
  };
}

function leaves(value: StateValue, above = ""): string[] {
  if (typeof value === "string") return [`${above}${value}`];
  return Object.entries(value).flatMap(([key, below]) => leaves(below, `${above}${key}.`));
}

/** Names of these states have no dots. */
function mapped(leaf: string, mapping: Move["stateMapping"]): string {
  const names = leaf.split(".");
  for (let length = names.length; length > 0; length -= 1) {
    const to = mapping[names.slice(0, length).join(".")];
    if (to !== undefined) return [to as string, ...names.slice(length)].join(".");
  }
  return leaf;
}

function at(root: Node, path: string): Node | undefined {
  let node: Node | undefined = root;
  for (const name of path.split(".")) node = node?.states?.[name];
  return node;
}

function has(root: Node, leaf: string): boolean {
  const node = at(root, leaf);
  return node !== undefined && node.states === undefined && node.type !== "history";
}

function isWhole(node: Node, value: StateValue): boolean {
  const below = typeof value === "string" ? { [value]: {} } : value;
  const names = Object.keys(below);
  const children = Object.keys(node.states ?? {});
  const expected = node.type === "parallel" ? children.length : Math.min(children.length, 1);
  if (names.length !== expected) return false;
  return names.every((name) => {
    const child = node.states?.[name];
    return child !== undefined && child.type !== "history" && isWhole(child, below[name] ?? {});
  });
}
