/**
 * Does work with a signal that aborts after `ms`. `AbortSignal.timeout` will not do: its timer runs on when the work is
 * done, and until it ends workerd keeps the object in memory.
 */
export async function abortAfter<Result>(
  ms: number,
  work: (late: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
