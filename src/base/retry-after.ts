/** ms that a Retry-After asks for, in seconds or as a date; 0 for what is neither. */
export function retryAfter(header: string | null, now = Date.now()): number {
  if (header === null) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
