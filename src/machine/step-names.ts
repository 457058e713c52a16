import { nameOf } from "./commands.ts";
import type { CompiledMachine } from "./compile.ts";

/**
 * Every name that a step of a history can have on this definition, sorted: what is handled has a descriptor, be it sent
 * by a caller, a schedule or the machine itself. Null where a wildcard handles names that nobody can list.
 */
export function stepNames(machine: CompiledMachine): string[] | null {
  const names = new Set<string>();
  for (const { transitions } of machine.nodes.values()) {
    for (const [descriptor, declared] of transitions) {
      if (/^xstate\.(?!(done|error)\.actor\.)/.test(descriptor)) continue;
      const acts = declared.some(({ target, actions }) => target || actions.length > 0);
      if (acts && descriptor.endsWith("*")) return null;
      if (acts) names.add(nameOf(machine, descriptor));
    }
  }
  for (const { state, delay } of machine.afterByEvent.values()) {
    names.add(`@timer:${state}:${delay}`);
  }
  return [...names].sort();
}
