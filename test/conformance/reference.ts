import { compileFunction } from "node:vm";
import { and, assign, cancel, createActor, createMachine, not, or, raise, stateIn } from "xstate";
import type { AnyActorRef, AnyStateMachine } from "xstate";
import type { JsonObject } from "./convert/chart.ts";
import { configurationOf } from "./configuration.ts";
import type { Run } from "./configuration.ts";
import type { Converted } from "./convert/convert.ts";
import { SteppedClock } from "./stepped-clock.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the machine is data: XState's types have nothing to say
type Loose = any;

interface Args {
  context: Record<string, unknown>;
  event: { type: string; data?: unknown; output?: unknown };
}

/** Runs the same machine as a started XState actor, with the chart's own JavaScript for its expressions. */
export function runOnXState({ definition, steps, ids, sources }: Converted): Run {
  const clock = new SteppedClock();
  const configurations: string[][] = [];
  let stopped: string | null = null;
  const machine = asMachine(definition, sources);
  const actor: AnyActorRef = createActor(machine, { clock });
  actor.subscribe({ error: (error) => (stopped = String(error)) });
  actor.start();
  for (const { happens } of steps) {
    try {
      // Whatever is due comes before an event, as in Perdure.
      if (!("start" in happens)) clock.advance("advanceMs" in happens ? happens.advanceMs : 0);
    } catch (error) {
      stopped = String(error);
    }
    if ("event" in happens && stopped === null) actor.send({ type: happens.event });
    if (stopped !== null) break;
    configurations.push(configurationOf(actor.getSnapshot().value, ids));
  }
  actor.stop();
  return { configurations, stopped };
}

function asMachine(definition: JsonObject, sources: ReadonlyMap<string, string>): AnyStateMachine {
  const code = (cel: string): ((args: Args) => unknown) => {
    const js = sources.get(cel);
    if (js === undefined) throw new Error(`no source of ${cel}`);
    const names = Object.keys(definition["context"] as JsonObject);
    const run = compileFunction(`return (${js}\n)`, ["_event", ...names]);
    return ({ context, event }) => {
      const sent = { name: event.type, data: event.data ?? event.output };
      return run(sent, ...names.map((name) => context[name]));
    };
  };
  const template = (value: Loose): ((args: Args) => Loose) => {
    if (typeof value !== "object" || value === null) return () => value;
    if (typeof value["@expr"] === "string") return code(value["@expr"]);
    if (Array.isArray(value)) {
      const items = value.map(template);
      return (args) => items.map((item) => item(args));
    }
    const members = Object.entries(value).map(([key, member]) => [key, template(member)] as const);
    return (args) => Object.fromEntries(members.map(([key, member]) => [key, member(args)]));
  };
  const guard = (value: Loose): Loose => {
    if (value["@expr"] !== undefined) {
      const run = code(value["@expr"]);
      return (args: Args) => Boolean(run(args));
    }
    const { type, params } = value;
    if (type === "xstate.stateIn") return stateIn(params.stateId);
    if (type === "xstate.not") return not(guard(params.guard));
    const all = params.guards.map(guard);
    return type === "xstate.and" ? and(all) : or(all);
  };
  const action = (value: Loose): Loose => {
    if (value.type === "@xstate.assign") return assign(template(value.context) as Loose);
    if (value.type === "@xstate.cancel") return cancel(value.id);
    const { delay, id } = value;
    return raise(template(value.event) as Loose, {
      ...(delay === undefined ? {} : { delay: template(delay) }),
      ...(id === undefined ? {} : { id }),
    });
  };
  const transitions = (list: Loose): Loose =>
    [list].flat().map((transition: Loose) => ({
      ...transition,
      ...(transition.guard && { guard: guard(transition.guard) }),
      ...(transition.actions && { actions: transition.actions.map(action) }),
    }));
  const state = (config: Loose): Loose => {
    const { entry, exit, on, always, onDone, states, output, ...rest } = config;
    const all = (of: Loose, map: (member: Loose) => Loose) =>
      Object.fromEntries(Object.entries(of).map(([key, member]) => [key, map(member)]));
    return {
      ...rest,
      ...(entry && { entry: entry.map(action) }),
      ...(exit && { exit: exit.map(action) }),
      ...(on && { on: all(on, transitions) }),
      ...(always && { always: transitions(always) }),
      ...(onDone && { onDone: transitions(onDone) }),
      ...(states && { states: all(states, state) }),
      ...(output !== undefined && { output: template(output) }),
    };
  };
  // A chart that never comes to rest ends as an error, and not in a loop without end.
  return createMachine({ ...state(definition), options: { maxIterations: 1000 } } as Loose);
}
