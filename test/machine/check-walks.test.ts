import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { doneType } from "../../src/machine/activity-events.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { afterKey, compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Command, StepScope } from "../../src/machine/types.ts";
import { activePaths } from "../../src/machine/view.ts";
import { EVENTS, definitions } from "../support/charts.ts";

// What the checker says of a whole statechart is held against what the engine does on random walks.

vi.setConfig({ testTimeout: 60_000 });

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };
const picks = fc.array(fc.nat({ max: 999 }), { minLength: 25, maxLength: 25 });

/** Charts that move by themselves, and charts with activities. */
const charts = fc.oneof(definitions("everything"), definitions("activities"));

/**
 * Paths of active states, at the start and after each event that was taken: some of these types, a timer that is armed, or
 * the end of an activity that runs.
 */
function walk(
  machine: CompiledMachine,
  choices: readonly number[],
  types: readonly string[],
): Set<string>[] {
  const begun = start(machine, SCOPE, undefined, undefined);
  if (!begun.ok) return [];
  const seen = [activePaths(begun.live)];
  const armed = new Set<string>();
  let { live } = begun;
  note(machine, armed, begun.commands);
  for (const choice of choices) {
    const open = [...types, ...armed];
    const type = open[choice % open.length];
    if (live.status !== "active" || type === undefined) break;
    const outcome = step(machine, live, { type }, SCOPE);
    armed.delete(type);
    if (!outcome.ok) continue;
    live = outcome.live;
    note(machine, armed, outcome.commands);
    seen.push(activePaths(live));
  }
  return seen;
}

function note(machine: CompiledMachine, armed: Set<string>, commands: readonly Command[]): void {
  for (const command of commands) {
    if (command.kind === "start_activity") armed.add(doneType(command.id));
    if (command.kind === "stop_activity") armed.delete(doneType(command.id));
    if (command.kind === "arm_raise") armed.add(command.event.type);
    if (command.kind !== "arm_after" && command.kind !== "cancel_after") continue;
    const type = machine.eventByAfter.get(afterKey(command.state, command.delay)) as string;
    if (command.kind === "arm_after") armed.add(type);
    else armed.delete(type);
  }
}

function pathsWarned(definition: JsonObject, code: string): string[] {
  return checkDefinition(definition)
    .warnings.filter((warning) => warning.code === code)
    .map(({ pointer }) => pointer.split("/states/").slice(1).join(".").replaceAll("~1", "/"));
}

test("what is said to be unreachable is never reached, and nobody gets out of a dead end", () => {
  const met = { unreachable: 0, deadEnds: 0 };
  fc.assert(
    fc.property(charts, picks, (definition, choices) => {
      if (checkDefinition(definition).errors.length > 0) return;
      const machine = compileDefinition(definition);
      const unreachable = pathsWarned(definition, "unreachable_state");
      const deadEnds = pathsWarned(definition, "dead_end");
      met.unreachable += unreachable.length;
      const stuck = new Set<string>();
      for (const active of walk(machine, choices, EVENTS)) {
        for (const path of unreachable) expect(active.has(path), path).toBe(false);
        for (const path of stuck) expect(active.has(path), path).toBe(true);
        for (const path of deadEnds) if (active.has(path)) stuck.add(path);
      }
      met.deadEnds += stuck.size;
    }),
    { numRuns: 200 },
  );
  expect(met.unreachable).toBeGreaterThan(20);
  expect(met.deadEnds).toBeGreaterThan(0);
});

test("no timer, no delayed event and no end of an activity leads out of a state that is said to wait for somebody", () => {
  let met = 0;
  fc.assert(
    fc.property(
      fc.oneof(definitions("events"), definitions("activities")),
      picks,
      (definition, choices) => {
        if (checkDefinition(definition).errors.length > 0) return;
        const machine = compileDefinition(definition);
        const untimed = pathsWarned(definition, "no_timeout");
        const stuck = new Set<string>();
        for (const active of walk(machine, choices, [])) {
          for (const path of stuck) expect(active.has(path), path).toBe(true);
          for (const path of untimed) if (active.has(path)) stuck.add(path);
        }
        met += stuck.size;
      },
    ),
    { numRuns: 200 },
  );
  expect(met).toBeGreaterThan(5);
});
