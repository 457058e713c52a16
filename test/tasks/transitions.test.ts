import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../src/activities/policy-input.ts";
import { rowOf } from "../../src/tasks/task.ts";
import { afterFailure } from "../../src/tasks/transitions.ts";

const NOW = 1_000_000;

/** ms until the task is open again after an attempt that failed. */
function pauseOf(taskId: string, attempts: number): number {
  const row = rowOf(
    {
      taskId,
      kind: "task",
      actor: { id: "a", uid: "0".repeat(32), definitionId: "d" },
      ref: "2:0",
      round: 0,
      activityId: "work",
      input: null,
      title: null,
      form: null,
      leaseMs: 1_000,
      retry: DEFAULT_POLICY,
      unclaimedMs: null,
      assignee: null,
      remindersSent: 0,
      escalatedTo: null,
      expiresAt: null,
    },
    NOW,
  );
  const failure = { code: "busy", message: "Not now.", retryable: true };
  const { changes } = afterFailure({ ...row, position: 1, attempts }, failure, NOW);
  return (changes.ready_at as number) - NOW;
}

test("the pause after a failure is spread by task and attempt, and the same whoever works it out", () => {
  const ids = Array.from({ length: 50 }, (_, n) => `q.${"0".repeat(32)}:${n + 1}:0`);
  const pauses = ids.map((id) => pauseOf(id, 1));
  expect(ids.map((id) => pauseOf(id, 1))).toEqual(pauses);
  expect(new Set(pauses).size).toBeGreaterThan(25);
  for (const pause of pauses) {
    expect(pause).toBeGreaterThanOrEqual(500);
    expect(pause).toBeLessThanOrEqual(1_000);
  }
  expect(pauseOf(ids[0] as string, 2)).toBeGreaterThanOrEqual(1_000);
});
