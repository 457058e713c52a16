/** An instant, ms since 1970, as the wire shows it: ISO 8601, UTC, with ms. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
