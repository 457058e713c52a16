import { LIMITS } from "../base/limits.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { withAllowance } from "../machine/evaluation.ts";
import type { NotHandled, StateValue } from "../machine/types.ts";
import { activePaths } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import { advance } from "./advance.ts";
import { beginActor } from "./birth.ts";
import { NO_ORIGIN } from "./input.ts";

export type ScenarioEvent =
  | string
  | { type: string; payload?: JsonObject | undefined }
  | { advanceMs: number };

/** A play to try a machine with; nothing of it is stored. */
export interface Scenario {
  name: string;
  input?: JsonValue | undefined;
  context?: JsonObject | undefined;
  events: ScenarioEvent[];
  /** After each event, in order: a path of an active state, a whole state value, or null for any. */
  expectedStates?: (StateValue | null)[] | undefined;
  expectDone?: boolean | undefined;
}

export interface ScenarioStep {
  event: JsonValue;
  stateValue: StateValue;
  /** Whether the machine had a handler for the event; null for time that passes. */
  handled: boolean | null;
  /** Why it was not handled. */
  reason?: NotHandled;
  expected?: StateValue;
  ok: boolean;
}

export interface ScenarioResult {
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
  const fault = play.begin(scenario);
  if (fault !== null) return failed(fault);
  for (const [index, event] of scenario.events.entries()) {
    const error = play.take(event);
    if (error !== null) return failed(error);
    const expected = expectedStates[index] ?? null;
    const ok = expected === null || play.isIn(expected);
    steps.push({
      event: event as JsonValue,
      stateValue: play.stateValue,
      ...play.lastHandled,
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

/** An actor without a home: the same functions as a real one, and a clock that moves when it is told. */
class Play {
  readonly #machine: CompiledMachine;
  #actor: Actor | null = null;
  #now = Date.UTC(2000, 0, 1);
  #lastHandled: Pick<ScenarioStep, "handled" | "reason"> = { handled: null };

  constructor(machine: CompiledMachine) {
    this.#machine = machine;
  }

  get done(): boolean {
    return this.#actor?.envelope.status === "done";
  }

  get stateValue(): StateValue {
    return this.#present.envelope.machine.value;
  }

  /** How the machine took what was given to it last. */
  get lastHandled(): Pick<ScenarioStep, "handled" | "reason"> {
    return this.#lastHandled;
  }

  get #present(): Actor {
    return this.#actor as Actor;
  }

  begin({ input, context }: Scenario): string | null {
    const birth = {
      uid: "0".repeat(32),
      definitionId: this.#machine.family,
      definitionHash: "",
      ...(input === undefined ? {} : { input }),
      ...(context === undefined ? {} : { context }),
    };
    const address = { tenant: "scenario", id: "scenario" };
    const born = beginActor(address, this.#machine, birth, this.#now, NO_ORIGIN);
    if (!born.ok) return born.fault.message;
    this.#actor = born.actor;
    return this.#fireDue();
  }

  take(event: ScenarioEvent): string | null {
    if (typeof event === "object" && "advanceMs" in event) {
      this.#lastHandled = { handled: null };
      const until = this.#now + event.advanceMs;
      const error = this.#fireDue(until);
      this.#now = until;
      return error;
    }
    const { type, payload = null } =
      typeof event === "string" ? { type: event } : { payload: null, ...event };
    const { status } = this.#present.envelope;
    if (status !== "active") return `The machine is ${status} before '${type}'.`;
    const outcome = advance(this.#present, { kind: "event", type, payload }, this.#now, NO_ORIGIN);
    if (!outcome.ok) return outcome.fault.message;
    this.#actor = outcome.actor;
    const { handled, reason } = outcome.record;
    this.#lastHandled = { handled, ...(reason === null ? {} : { reason }) };
    return this.#fireDue();
  }

  isIn(expected: StateValue): boolean {
    if (canonicalJson(expected) === canonicalJson(this.stateValue)) return true;
    return typeof expected === "string" && activePaths(this.#present.live).has(expected);
  }

  #fireDue(until = this.#now): string | null {
    for (let fired = 0; ; fired += 1) {
      const timer = this.#present.envelope.timers[0];
      if (timer === undefined || timer.dueAt > until) return null;
      if (fired === LIMITS.timersPerAdvance) {
        return `More than ${LIMITS.timersPerAdvance} timers fired (limit timersPerAdvance).`;
      }
      this.#now = Math.max(this.#now, timer.dueAt);
      const input = { kind: "timer", timerId: timer.id } as const;
      const outcome = advance(this.#present, input, this.#now, NO_ORIGIN);
      if (!outcome.ok) return outcome.fault.message;
      if (outcome.record.error) return outcome.record.error.message;
      this.#actor = outcome.actor;
    }
  }
}
