import type { ApprovalRequest } from "./approval-input.ts";

/** A due time of an approval, ms after its start; `step` is the index in its list. */
interface ApprovalDue {
  what: "reminder" | "escalation" | "expiry";
  step: number;
  afterMs: number;
}

/** The first reminders, all escalations, and the end. */
export function firstDues({ reminders, escalate, expiresMs }: ApprovalRequest): ApprovalDue[] {
  return [
    ...reminders.map(({ afterMs }, step) => ({ what: "reminder", step, afterMs }) as const),
    ...escalate.map(({ afterMs }, step) => ({ what: "escalation", step, afterMs }) as const),
    { what: "expiry", step: 0, afterMs: expiresMs },
  ];
}

/** ms from a reminder to the next of the same entry, of which `sent` were sent; null where that was the last. */
export function reminderPause(
  { reminders }: ApprovalRequest,
  step: number,
  sent: number,
): number | null {
  const reminder = reminders[step];
  if (reminder === undefined || sent >= reminder.max) return null;
  return reminder.repeatMs;
}
