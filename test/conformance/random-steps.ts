import { seeded } from "../support/seeded.ts";
import { MS } from "./convert/actions.ts";
import type { Json } from "./convert/chart.ts";
import type { Converted } from "./convert/convert.ts";
import type { Step } from "./convert/steps.ts";

/** Of the steps, one in five is a wait. */
const WAITS = 0.2;
/** Waits are up to so many powers of ten of a chart's ms. */
const SCALES = 4;

/** The chart with other steps, about which SCXML says nothing: events that it knows and waits, by chance. */
export function withRandomSteps(chart: Converted, count: number, seed: number): Converted {
  const random = seeded(seed);
  const below = (most: number) => Math.floor(random() * most);
  const events = [...eventsOf(chart.definition)];
  const happens = (): Step["happens"] => {
    const event = events[below(events.length)];
    if (event !== undefined && random() >= WAITS) return { event };
    return { advanceMs: below(10) * 10 ** below(SCALES) * MS };
  };
  const steps: Step[] = [{ happens: { start: true }, expected: null }];
  while (steps.length <= count) steps.push({ happens: happens(), expected: null });
  return { ...chart, steps };
}

/** An event for each key of any `on`; a wildcard gets one of its own. */
function eventsOf(part: Json, found = new Set<string>()): Set<string> {
  if (typeof part !== "object" || part === null) return found;
  for (const [key, member] of Object.entries(part)) {
    if (key === "on") {
      for (const descriptor of Object.keys(member as object)) {
        found.add(descriptor.replace("*", "anything"));
      }
    }
    eventsOf(member as Json, found);
  }
  return found;
}
