import type { RampStep } from "./rule.ts";

/**
 * The ramp of an active rule after its percentage was changed to that of `step`. A greater one adds the step; a
 * smaller one cuts off what was above it: who is left has been taken since when he was.
 */
export function rampTo(ramp: readonly RampStep[], step: RampStep): RampStep[] {
  const below = ramp.filter(({ percent }) => percent < step.percent);
  const cut = ramp[below.length];
  return [...below, cut === undefined ? step : { ...cut, percent: step.percent }];
}
