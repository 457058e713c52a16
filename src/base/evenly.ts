/** At most so many of a list, from all over it, in its order. */
export function evenly<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  return Array.from(
    { length: most },
    (_, n) => list[Math.floor(((n + 0.5) * list.length) / most)] as T,
  );
}
