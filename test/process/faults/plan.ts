import { oneOf } from "../crash/dice.ts";

/** How a point goes wrong; `points.js` says what each does. */
export type How = "throw" | "undo" | "break" | "lose" | "delay" | "abort" | "abort-after";

/** What happens at the `nth` time that a point is passed. */
export interface Fault {
  point: string;
  nth: number;
  how: How;
}

/** What a run has passed, how often; and which of its faults were met. */
export interface Passed {
  counts: Record<string, number>;
  met: Fault[];
}

/** By what a point is; the first pattern that fits counts. What the platform cannot do to it is left out. */
const WAYS: readonly [RegExp, readonly How[]][] = [
  // A statement is done at once, or not.
  [/ sql /, ["throw", "abort"]],
  [/ commit$/, ["throw", "undo", "abort"]],
  // Nobody awaits it: what becomes of it, becomes of its object.
  [/ (setAlarm|deleteAlarm)$/, ["abort", "abort-after", "delay"]],
  [/ (getAlarm|deleteAll|sync)$/, ["throw", "abort", "delay"]],
  [/ alarm$/, ["throw", "abort", "abort-after"]],
  [/^actor fetch$/, ["throw", "lose", "delay"]],
  [/^edge call /, ["throw", "lose", "break", "delay"]],
  [/ call /, ["throw", "lose", "break", "delay", "abort", "abort-after"]],
];

function waysOf(point: string): readonly How[] {
  return WAYS.find(([pattern]) => pattern.test(point))?.[1] ?? [];
}

/** Every way in which every passing of every point can go wrong. */
export function allFaults(counts: Passed["counts"]): Fault[] {
  return Object.entries(counts).flatMap(([point, count]) =>
    Array.from({ length: count }, (_, index) => index + 1).flatMap((nth) =>
      waysOf(point).map((how) => ({ point, nth, how })),
    ),
  );
}

/** One fault at every point, and as many more as are wanted. */
export function sampleOf(counts: Passed["counts"], wanted: number, random: () => number): Fault[] {
  const all = allFaults(counts);
  const sample = [...Map.groupBy(all, ({ point }) => point).values()].map((some) =>
    oneOf(some, random),
  );
  const rest = all.filter((fault) => !sample.includes(fault));
  while (sample.length < wanted && rest.length > 0) {
    sample.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return sample;
}

/** Some for each run, as chance has it. Those that excuse a 500 are by themselves. */
export function inGroups(faults: readonly Fault[], size: number, random: () => number): Fault[][] {
  const parts = [true, false].map((breaks) =>
    faults.filter((fault) => excuses500(fault) === breaks),
  );
  return parts.flatMap((part) => groupsOf(part, size, random));
}

/** Whether an object's own code threw, which is a 500 by its nature. */
export function excuses500({ how }: Fault): boolean {
  return how === "break";
}

function groupsOf(faults: Fault[], size: number, random: () => number): Fault[][] {
  const groups: Fault[][] = [];
  const left = [...faults];
  while (left.length > 0) {
    const draw = () => left.splice(Math.floor(random() * left.length), 1);
    groups.push(Array.from({ length: Math.min(size, left.length) }, draw).flat());
  }
  return groups;
}
