import { evenly } from "../base/evenly.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";

type Kind = "match" | "pending" | "diverged" | "near";

/** Actors that stand in one state, by what a rule says of their histories. */
export interface DecidedClass {
  stateValue: JsonValue;
  match: number;
  pending: number;
  diverged: number;
  near: number;
  /** Ids. */
  samples: { [kind in Kind]: string[] };
}

/** What becomes of the timers of one actor, or of the activities of its states. */
export interface Fates {
  kept: number;
  cancelled: number;
  started: number;
}

/** Where actors of one state land, or why they cannot. */
export type ClassLanding =
  | { ok: true; stateValue: JsonValue; timers: Fates; activities: Fates }
  | { ok: false; reason: string };

/** Null where nobody matches. */
type LandedClass = DecidedClass & { landing: ClassLanding | null };

interface Line {
  definitionId: string;
  stateValue: JsonValue;
  /** Null for those that stay where they are, because they do not match, or cannot be moved. */
  targetStateValue: JsonValue;
  count: number;
  class: "match" | "pending" | "diverged";
}

interface Unmappable {
  stateValue: JsonValue;
  reason: string;
  count: number;
  sampleIds: string[];
}

/** What a rule would do, as a caller reads it. */
export interface Plan {
  total: number;
  match: number;
  pending: number;
  diverged: number;
  nearMisses: number;
  byState: Line[];
  /** Actors of lines that are not listed. */
  others?: number;
  unmappable: Unmappable[];
  /** All actors that match and cannot be moved. */
  unmappableTotal: number;
  timers: Fates;
  activities: Fates;
  sampleIds: { match: string[]; pending: string[]; diverged: string[]; nearMisses: string[] };
}

/** What shards say, put together by state; `samples` ids of each kind, from as many shards as there can be. */
export function mergeClasses(
  surveyed: readonly (readonly DecidedClass[])[],
  samples: number,
): DecidedClass[] {
  const byState = new Map<string, DecidedClass[]>();
  for (const one of surveyed.flat()) {
    const text = canonicalJson(one.stateValue);
    const known = byState.get(text);
    if (known === undefined) byState.set(text, [one]);
    else known.push(one);
  }
  return [...byState]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [first, ...others]]) => sum([first as DecidedClass, ...others], samples));
}

function sum(same: readonly [DecidedClass, ...DecidedClass[]], samples: number): DecidedClass {
  return {
    stateValue: same[0].stateValue,
    match: total(same, ({ match }) => match),
    pending: total(same, ({ pending }) => pending),
    diverged: total(same, ({ diverged }) => diverged),
    near: total(same, ({ near }) => near),
    samples: {
      match: samplesOf(same, "match", samples),
      pending: samplesOf(same, "pending", samples),
      diverged: samplesOf(same, "diverged", samples),
      near: samplesOf(same, "near", samples),
    },
  };
}

/** The plan of a rule from `definitionId`. `states`: how many lines are listed, the largest ones. */
export function planOf(
  definitionId: string,
  classes: readonly LandedClass[],
  { states, samples }: { states: number; samples: number },
): Plan {
  const lines = classes.flatMap((one) => linesOf(definitionId, one)).sort(larger);
  const listed = lines.slice(0, states);
  const unlisted = total(lines.slice(states), ({ count }) => count);
  const refused = classes.flatMap((one) => refusedOf(one, samples)).sort(larger);
  const [match, pending, diverged] = (["match", "pending", "diverged"] as const).map((kind) =>
    total(classes, (one) => one[kind]),
  ) as [number, number, number];
  return {
    total: match + pending + diverged,
    match,
    pending,
    diverged,
    nearMisses: total(classes, ({ near }) => near),
    byState: listed,
    ...(unlisted > 0 ? { others: unlisted } : {}),
    unmappable: refused.slice(0, states),
    unmappableTotal: total(refused, ({ count }) => count),
    timers: fatesOf(classes, "timers"),
    activities: fatesOf(classes, "activities"),
    sampleIds: {
      match: samplesOf(classes, "match", samples),
      pending: samplesOf(classes, "pending", samples),
      diverged: samplesOf(classes, "diverged", samples),
      nearMisses: samplesOf(classes, "near", samples),
    },
  };
}

/** Up to `most` ids of a kind, one of each list in turn; of a turn with too many, from all over it. */
export function samplesOf(classes: readonly DecidedClass[], kind: Kind, most: number): string[] {
  const lists = classes.map(({ samples }) => samples[kind]);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const ids: string[] = [];
  for (let turn = 0; turn < longest && ids.length < most; turn += 1) {
    ids.push(
      ...evenly(
        lists.flatMap((list) => list[turn] ?? []),
        most - ids.length,
      ),
    );
  }
  return ids;
}

function linesOf(definitionId: string, one: LandedClass): Line[] {
  const { stateValue, landing } = one;
  const line = (kind: Line["class"], targetStateValue: JsonValue): Line[] =>
    one[kind] === 0
      ? []
      : [{ definitionId, stateValue, targetStateValue, count: one[kind], class: kind }];
  return [
    ...line("match", landing?.ok ? landing.stateValue : null),
    ...line("pending", null),
    ...line("diverged", null),
  ];
}

function refusedOf({ stateValue, landing, match, samples }: LandedClass, most: number) {
  if (landing === null || landing.ok) return [];
  const sampleIds = samples.match.slice(0, most);
  return [{ stateValue, reason: landing.reason, count: match, sampleIds }];
}

function fatesOf(classes: readonly LandedClass[], what: "timers" | "activities"): Fates {
  const all = (fate: keyof Fates): number =>
    total(classes, ({ landing, match }) => (landing?.ok ? landing[what][fate] * match : 0));
  return { kept: all("kept"), cancelled: all("cancelled"), started: all("started") };
}

function total<One>(all: readonly One[], count: (one: One) => number): number {
  return all.reduce((sum, one) => sum + count(one), 0);
}

function larger(a: { count: number }, b: { count: number }): number {
  return b.count - a.count;
}
