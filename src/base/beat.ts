/** ms from `now` to the first multiple of `every` that is no nearer than `least`: who waits for it comes together with others. */
export function untilBeat(now: number, least: number, every: number): number {
  const earliest = now + least;
  return least + ((every - (earliest % every)) % every);
}
