import { othersTurn } from "../base/pause.ts";
import { activityFate } from "../machine/land-activities.ts";
import { timerFate } from "../machine/land-timers.ts";
import { landingOf } from "../machine/landing.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { StateValue } from "../machine/types.ts";
import type { ClassLanding, DecidedClass, Fates } from "../migration/plan.ts";
import { reasonText } from "../migration/reason.ts";
import type { Mapping } from "../migration/rule.ts";
import { machineOf } from "./definition-cache.ts";
import type { Version } from "./rule-draft.ts";

const CLASSES_IN_A_TURN = 200;

/** Where those of each class land that match, and what becomes of their timers and activities. */
export async function landClasses(
  from: Version,
  to: Version,
  mapping: Mapping["stateMapping"],
  classes: readonly DecidedClass[],
): Promise<(DecidedClass & { landing: ClassLanding | null })[]> {
  const [older, younger] = [machineOf(from), machineOf(to)];
  const landed: (DecidedClass & { landing: ClassLanding | null })[] = [];
  for (const [index, one] of classes.entries()) {
    if (index % CLASSES_IN_A_TURN === CLASSES_IN_A_TURN - 1) await othersTurn();
    const landing =
      one.match > 0 ? land(older, younger, one.stateValue as StateValue, mapping) : null;
    landed.push({ ...one, landing });
  }
  return landed;
}

function land(
  from: CompiledMachine,
  to: CompiledMachine,
  value: StateValue,
  mapping: Mapping["stateMapping"],
): ClassLanding {
  const landing = landingOf(from, to, value, mapping);
  if (!landing.ok) return { ok: false, reason: reasonText(landing) };
  const timers = counted(timerFate(from, to, value, landing));
  const activities = counted(activityFate(from, to, value, landing.value));
  return { ok: true, stateValue: landing.value, timers, activities };
}

function counted({
  kept,
  cancelled,
  started,
}: { [fate in keyof Fates]: readonly unknown[] }): Fates {
  return { kept: kept.length, cancelled: cancelled.length, started: started.length };
}
