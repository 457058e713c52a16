import { vi } from "vitest";

/** What is logged of failures that a test makes is nobody's news. `vi.restoreAllMocks()` ends it. */
export function silence(): void {
  for (const level of ["warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
}
