import { afterAll, beforeAll } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";

/** Sets a limit of this isolate to another value; answers what puts the real one back. */
export function lowered(name: keyof typeof LIMITS, value: number): () => void {
  const real = LIMITS[name];
  Object.assign(LIMITS, { [name]: value });
  return () => {
    Object.assign(LIMITS, { [name]: real });
  };
}

/** For the tests around: an object that answered a repeat is not evicted before it has counted it. */
export function repeatsKeptSoon(): void {
  let restore: () => void;
  beforeAll(() => {
    restore = lowered("repeatsKeptMs", 10);
  });
  afterAll(() => restore());
}
