import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { checkMapping } from "../../src/machine/check/mapping.ts";
import { unlandedStates } from "../../src/machine/check/state-mapping.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { pathOf } from "../../src/machine/engine-types.ts";
import { timerFate } from "../../src/machine/land-timers.ts";
import { landHistory } from "../../src/machine/land-history.ts";
import { activeNodes, landingOf } from "../../src/machine/landing.ts";
import type { StateMapping } from "../../src/machine/landing.ts";
import { persist, restore } from "../../src/machine/live.ts";
import { moveIn } from "../../src/machine/move-in.ts";
import { start, step } from "../../src/machine/step.ts";
import type { MachineState, StepScope } from "../../src/machine/types.ts";
import { activePaths } from "../../src/machine/view.ts";
import { definitions } from "../support/charts.ts";
import { machineConfig } from "../support/machines.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v2", uid: "0".repeat(32), seq: 1, now: 1_000 };

/** Small machines of both kinds that may be deployed, every state of which may be named. */
const deployable = fc
  .oneof(machineConfig, definitions("everything"))
  .filter((config) => checkDefinition(config).errors.length === 0);

/** Where a machine comes to: its start, and what events and timers lead to, breadth first. */
function configurations(machine: CompiledMachine, most = 12): MachineState[] {
  const begun = start(machine, SCOPE, undefined, undefined);
  if (!begun.ok) return [];
  const types = new Set(
    [...machine.nodes.values()].flatMap((node) => [...node.transitions.keys()]),
  );
  const found = new Map([[JSON.stringify(stand(persist(begun.live))), begun.live]]);
  for (const live of found.values()) {
    for (const type of types) {
      if (found.size >= most || live.status !== "active") break;
      const event = { type: type === "*" ? "else" : type.replace(".*", ".x"), n: 1 };
      const outcome = step(machine, live, event, SCOPE);
      if (outcome.ok) found.set(JSON.stringify(stand(persist(outcome.live))), outcome.live);
    }
  }
  return [...found.values()].map(persist).filter(({ status }) => status === "active");
}

function stand({ status, value, history }: MachineState): JsonValue {
  return { status, value, history } as JsonObject;
}

/** What XState makes of it: nothing may be put right. */
function asRestored(machine: CompiledMachine, state: MachineState): MachineState {
  return persist(restore(machine, state));
}

test("onto the same definition everybody lands where it is, with all it remembers and all its timers", () => {
  let timers = 0;
  let memories = 0;
  fc.assert(
    fc.property(deployable, (config) => {
      const machine = compileDefinition(config);
      expect(checkMapping(machine, machine, {}, {})).toEqual([]);
      for (const { value, history } of configurations(machine)) {
        const landing = landingOf(machine, machine, value, {});
        // The order of members is part of what is kept.
        if (!landing.ok) throw new Error(landing.message);
        expect(JSON.stringify(landing.value)).toBe(JSON.stringify(value));
        expect(landHistory(machine, machine, history, {})).toEqual({ history, dropped: [] });
        const fate = timerFate(machine, machine, value, landing);
        expect(fate).toMatchObject({ cancelled: [], started: [] });
        expect(fate.kept.every(({ state, newState }) => state === newState)).toBe(true);
        timers += fate.kept.length;
        memories += Object.keys(history).length;
      }
    }),
    { numRuns: 60 },
  );
  expect(timers).toBeGreaterThan(10);
  expect(memories).toBeGreaterThan(10);
});

/** Another name for every state, and how paths follow. */
function rename(config: JsonObject, names: readonly string[]): [JsonObject, StateMapping] {
  const mapping: Record<string, string> = {};
  const ids = new Map<string, string>();
  let next = 0;
  const visit = (state: JsonObject, old: string[], now: string[]): JsonObject => {
    if (old.length > 0) mapping[old.join(".")] = now.join(".");
    const given = (state["states"] ?? {}) as JsonObject;
    const keys = new Map(
      Object.keys(given).map((key) => [key, `${names[next++ % names.length]}${next}`]),
    );
    ids.set(["m", ...old].join("."), ["m", ...now].join("."));
    const { initial, states: _, ...rest } = state;
    return {
      ...rest,
      ...(initial === undefined ? {} : { initial: keys.get(initial as string) as string }),
      ...(state["states"] === undefined
        ? {}
        : {
            states: Object.fromEntries(
              Object.entries(given).map(([key, child]) => {
                const name = keys.get(key) as string;
                return [name, visit(child as JsonObject, [...old, key], [...now, name])];
              }),
            ),
          }),
    };
  };
  return [visit(config, [], []), mapping];
}

test("where all states were renamed everybody lands, and the way back leads back", () => {
  const names = fc.array(fc.constantFrom("a", "s", "é", "x y", "toString", "z-"), { minLength: 1 });
  let landed = 0;
  fc.assert(
    fc.property(machineConfig, names, (config, given) => {
      if (checkDefinition(config).errors.length > 0) return;
      const from = compileDefinition(config);
      const [renamed, mapping] = rename(config, given);
      const to = compileDefinition(renamed);
      const back = Object.fromEntries(
        Object.entries(mapping).map(([old, path]) => [path as string, old]),
      );
      expect(checkMapping(from, to, mapping as JsonObject, {})).toEqual([]);
      expect(unlandedStates(from, to, mapping)).toEqual([]);
      for (const state of configurations(from)) {
        const there = landingOf(from, to, state.value, mapping);
        if (!there.ok) throw new Error(there.message);
        const { history, dropped } = landHistory(from, to, state.history, mapping);
        expect(dropped).toEqual([]);
        const moved = { ...state, value: there.value, history };
        expect(asRestored(to, moved)).toEqual(moved);
        const again = landingOf(to, from, there.value, back);
        expect(again.ok && JSON.stringify(again.value)).toBe(JSON.stringify(state.value));
        expect(landHistory(to, from, history, back).history).toEqual(state.history);
        for (const path of activePaths(restore(from, state))) {
          expect(there.pathOf(path)).toEqual([mapping[path]]);
          expect(there.oldOf(mapping[path] as string)).toEqual([path]);
        }
        landed += 1;
      }
    }),
    { numRuns: 60 },
  );
  expect(landed).toBeGreaterThan(10);
});

test("whatever a mapping says, what lands is restored as it is, and all else is refused", () => {
  let landed = 0;
  let refused = 0;
  fc.assert(
    fc.property(deployable, deployable, fc.integer({ min: 0 }), (one, other, seed) => {
      const from = compileDefinition(one);
      const to = compileDefinition(other);
      const places = [...to.nodes.values()].map(pathOf);
      let state = seed;
      const draw = (most: number): number => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
        return (state >>> 8) % most;
      };
      const pick = (from: readonly string[]): string => from[draw(from.length)] as string;
      // Many of them lead somewhere where the new machine can stand.
      const [somewhere = EMPTY] = configurations(to, 3).slice(-1);
      const leaves = [...activeNodes(to, somewhere.value)]
        .filter(({ states }) => Object.keys(states).length === 0)
        .map(pathOf);
      const mapping = Object.fromEntries(
        [...from.nodes.keys()]
          .filter(() => draw(8) > 0)
          .map((path) => [path, draw(4) > 0 ? leaves : [pick(places), pick(places)]]),
      );
      checkMapping(from, to, mapping, {});
      const unlanded = unlandedStates(from, to, mapping);
      for (const { value, history } of configurations(from, 10)) {
        const landing = landingOf(from, to, value, mapping);
        const memory = landHistory(from, to, history, mapping);
        expect(Object.keys(history)).toEqual(expect.arrayContaining(memory.dropped));
        const stands = activePaths(restore(from, { ...EMPTY, value }));
        if (unlanded.some((path) => stands.has(path))) expect(landing.ok).toBe(false);
        if (!landing.ok) {
          refused += 1;
          continue;
        }
        landed += 1;
        const moved: MachineState = { ...EMPTY, value: landing.value, history: memory.history };
        expect(JSON.stringify(asRestored(to, moved))).toBe(JSON.stringify(moved));
        timerFate(from, to, value, landing);
        moveIn(to, moved, {}, { n: 1, seen: [] }, SCOPE);
      }
    }),
    { numRuns: 150 },
  );
  expect(landed).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(10);
});

const EMPTY: MachineState = { status: "active", value: {}, context: {}, history: {} };
