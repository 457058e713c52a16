export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Lets others have their turn. Calls between objects of one process are no I/O to workerd, which does not look at its
 * sockets as long as others of its promises are ready: who goes on without a pause keeps everybody else from being heard.
 */
export function othersTurn(): Promise<void> {
  return pause(0);
}
