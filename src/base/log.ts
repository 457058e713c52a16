/**
 * One line of JSON about something that went wrong on our side. `about` names the place; bodies, keys and
 * contexts have no business in it.
 */
export function logError(
  level: "warn" | "error",
  error: unknown,
  about: { [member: string]: string },
): void {
  const { name, message, stack } =
    error instanceof Error ? error : { name: "not an Error", message: String(error), stack: "" };
  // oxlint-disable-next-line no-console
  console[level](JSON.stringify({ level, ...about, error: name, message, stack }));
}
