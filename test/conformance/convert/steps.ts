import { MS } from "./actions.ts";
import type { Script } from "../suite.ts";

/** One thing that happens to an actor, and which states without children are active then; null: not said. */
export interface Step {
  happens: { start: true } | { advanceMs: number } | { event: string };
  expected: string[] | null;
}

/**
 * Charts that nobody sends events to run through as soon as they start. These wait for one first,
 * so that there is a moment before which an actor can be evicted.
 */
export const BEGIN = "begin";

/** `waiting` is where a chart is that waits for that event. */
export function stepsOf({ initialConfiguration, events }: Script, waiting: string): Step[] {
  const start = { start: true } as const;
  if (events.length === 0) {
    return [
      { happens: start, expected: [waiting] },
      { happens: { event: BEGIN }, expected: initialConfiguration },
    ];
  }
  return [
    { happens: start, expected: initialConfiguration },
    ...events.flatMap(({ event: { name }, after = 0, nextConfiguration: expected }): Step[] => {
      const wait = { advanceMs: after * MS };
      // One script means by an event without a name that only time passes.
      if (name === "") return [{ happens: wait, expected }];
      const sent = { happens: { event: name }, expected };
      return after === 0 ? [sent] : [{ happens: wait, expected: null }, sent];
    }),
  ];
}
