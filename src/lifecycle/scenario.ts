import { LIMITS } from "../base/limits.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { withAllowance } from "../machine/evaluation.ts";
import type { StateValue } from "../machine/types.ts";
import { Play } from "./play.ts";
import type { PlayEvent, Taken } from "./play.ts";

/** A play to try a machine with; nothing of it is stored. */
export interface Scenario {
  name: string;
  input?: JsonValue | undefined;
  context?: JsonObject | undefined;
  events: PlayEvent[];
  /** After each event, in order: a path of an active state, a whole state value, or null for any. */
  expectedStates?: (StateValue | null)[] | undefined;
  expectDone?: boolean | undefined;
}

interface ScenarioStep extends Taken {
  event: JsonValue;
  stateValue: StateValue;
  expected?: StateValue;
  ok: boolean;
}

interface ScenarioResult {
  name: string;
  passed: boolean;
  steps: ScenarioStep[];
  done: boolean;
  error?: string;
}

export function runScenarios(
  machine: CompiledMachine,
  scenarios: readonly Scenario[],
): { passed: number; failed: number; results: ScenarioResult[] } {
  const results = withAllowance(LIMITS.scenarioBudget, () =>
    scenarios.map((scenario) => runScenario(machine, scenario)),
  );
  const passed = results.filter((result) => result.passed).length;
  return { passed, failed: results.length - passed, results };
}

function runScenario(machine: CompiledMachine, scenario: Scenario): ScenarioResult {
  const { name, expectedStates = [], expectDone } = scenario;
  const steps: ScenarioStep[] = [];
  const play = new Play(machine);
  const failed = (error: string): ScenarioResult => ({
    name,
    passed: false,
    steps,
    done: play.done,
    error,
  });
  const fault = play.begin(scenario.input, scenario.context);
  if (fault !== null) return failed(fault);
  for (const [index, event] of scenario.events.entries()) {
    const error = play.take(event);
    if (error !== null) return failed(error);
    const expected = expectedStates[index] ?? null;
    const ok = expected === null || play.isIn(expected);
    steps.push({
      event: event as JsonValue,
      stateValue: play.stateValue,
      ...play.lastTaken,
      ...(expected === null ? {} : { expected }),
      ok,
    });
  }
  if (expectedStates.length > scenario.events.length) {
    return failed(
      `There are ${expectedStates.length} expected states for ${scenario.events.length} events; give one for each event, or null.`,
    );
  }
  const asExpected = expectDone === undefined || expectDone === play.done;
  return { name, passed: asExpected && steps.every(({ ok }) => ok), steps, done: play.done };
}
