import type { Case } from "../suite.ts";
import { readChart } from "./chart.ts";
import type { JsonObject } from "./chart.ts";
import { keyBefore, stateConfig } from "./states.ts";
import { BEGIN, stepsOf } from "./steps.ts";
import type { Step } from "./steps.ts";

/** A case as Perdure runs it. */
export interface Converted {
  name: string;
  /** A machine as data, as `PUT /v1/definitions` takes it. */
  definition: JsonObject;
  steps: Step[];
  /** The chart's id of each state, by its key in the definition. */
  ids: Map<string, string>;
  /** What each expression of the definition was in the chart. */
  sources: Map<string, string>;
}

/** Throws NotConverted when the chart says what a machine as data cannot. */
export function convert(test: Case): Converted {
  const chart = readChart(test);
  const waits = test.script.events.length === 0;
  const root = stateConfig(chart, chart.root, waits ? BEGIN : null);
  const context = Object.fromEntries([
    ...chart.data,
    ...chart.flags.map((flag) => [flag, false] as const),
  ]);
  return {
    name: test.name,
    definition: { ...root, id: chart.name, context },
    steps: stepsOf(test.script, keyBefore(chart.root)),
    ids: new Map([...chart.byId.values()].map(({ key, id }) => [key, id])),
    sources: chart.sources,
  };
}
