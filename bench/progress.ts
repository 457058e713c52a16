/** One line on a terminal that the next one replaces; nothing where nobody watches. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}
