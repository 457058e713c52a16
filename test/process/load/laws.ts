/** A figure at a time, ms since the run began. */
export interface Sample {
  at: number;
  value: number;
}

/** Answers of one kind that a third must have, or its median says nothing. */
const LEAST = 20;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function between(samples: readonly Sample[], from: number, to: number): number[] {
  return samples.filter(({ at }) => at >= from && at < to).map(({ value }) => value);
}

/** Values of the first and the last third of the time from `from` to `to`. */
export function ends(samples: readonly Sample[], from: number, to: number): [number[], number[]] {
  const third = (to - from) / 3;
  return [between(samples, from, from + third), between(samples, to - third, to)];
}

/** The median of each tenth of the time from `from` to `to`. */
export function tenths(samples: readonly Sample[], from: number, to: number): number[] {
  const tenth = (to - from) / 10;
  return Array.from({ length: 10 }, (_, n) => from + n * tenth).map((begin) =>
    median(between(samples, begin, begin + tenth)),
  );
}

/** By what factor the median of each kind has grown from the first third to the last, where both have enough to say so. */
export function growths(
  kinds: ReadonlyMap<string, readonly Sample[]>,
  from: number,
  to: number,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const [kind, samples] of kinds) {
    const [first, last] = ends(samples, from, to);
    if (Math.min(first.length, last.length) < LEAST) continue;
    found.set(kind, median(last) / median(first));
  }
  return found;
}

/**
 * Kinds that have become slower by more than the factor `most`, and more so than `yardstick`: a request that touches no
 * object, so what slows that down is a machine that is busy with something else.
 */
export function slower(
  growth: ReadonlyMap<string, number>,
  yardstick: string,
  most: number,
): string[] {
  const busier = Math.max(1, growth.get(yardstick) ?? 1);
  return [...growth].filter(([, factor]) => factor > most * busier).map(([kind]) => kind);
}

/** An answer to a request that changed one actor; times in ms of one clock. */
export interface Written {
  seq: number;
  sentAt: number;
  answeredAt: number;
}

/** The first pair of which one was answered before the other was sent, and stands behind it all the same; or null. */
export function outOfOrder(written: readonly Written[]): [Written, Written] | null {
  let soonest: Written | null = null;
  for (const one of written.toSorted((a, b) => b.seq - a.seq)) {
    if (soonest !== null && soonest.answeredAt < one.sentAt) return [soonest, one];
    if (soonest === null || one.answeredAt < soonest.answeredAt) soonest = one;
  }
  return null;
}

/** The smallest share that any of `parties` has of a sequence of turns, as a part of an even one. */
export function leastShare(turns: readonly number[], parties: number): number {
  const counts = Array<number>(parties).fill(0);
  for (const party of turns) counts[party] = (counts[party] ?? 0) + 1;
  return Math.min(...counts) / (turns.length / parties);
}
