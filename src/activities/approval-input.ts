import { isJsonObject } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { anything, list, ms, object, parse, text, whole } from "./shape.ts";
import type { Parsed, Shape } from "./shape.ts";
import { queueName } from "./task-input.ts";

/** A decision that a person is asked for. */
export interface ApprovalRequest {
  assignee: string;
  title: string;
  /** What the person is shown, or asked to fill in; any JSON. */
  form: JsonValue;
  queue: string;
  reminders: readonly Reminder[];
  escalate: readonly Escalation[];
  expiresMs: number;
}

interface Reminder {
  /** From the start. */
  afterMs: number;
  /** Between two of them; null: only once. */
  repeatMs: number | null;
  /** How many in all. */
  max: number;
}

interface Escalation {
  /** From the start. */
  afterMs: number;
  to: string;
}

const DAY_MS = 86_400_000;
/** Where nothing is said: one reminder after a day, and an end after a week. */
const REMINDERS: readonly Reminder[] = [{ afterMs: DAY_MS, repeatMs: null, max: 1 }];
const EXPIRES_MS = 7 * DAY_MS;

const maxNeedsRepeat: Shape = (value, pointer, reader) => {
  if (!isJsonObject(value) || value["max"] === undefined || value["repeatMs"] !== undefined) return;
  reader.faults.push({ pointer, message: "`max` counts repetitions: add `repeatMs`." });
};

const reminder = object(
  {
    required: { afterMs: ms },
    optional: {
      repeatMs: whole(LIMITS.reminderLeastMs, LIMITS.delayMs, "ms"),
      max: whole(1, LIMITS.remindersPerApproval),
    },
  },
  "A reminder",
  maxNeedsRepeat,
);

const escalation = object(
  { required: { afterMs: ms, to: text(LIMITS.textChars) }, optional: {} },
  "An escalation",
);

export const APPROVAL_INPUT: Shape = object(
  {
    required: { assignee: text(LIMITS.textChars), title: text(LIMITS.textChars) },
    optional: {
      form: anything,
      queue: queueName,
      reminders: list(reminder, LIMITS.activityListEntries),
      escalate: list(escalation, LIMITS.activityListEntries),
      expiresMs: ms,
    },
  },
  "The input of `approval`",
);

export function parseApprovalInput(input: JsonValue): Parsed<ApprovalRequest> {
  return parse(APPROVAL_INPUT, input, (value) => {
    const given = value as unknown as ApprovalInput;
    const { assignee, title, form = null, queue = "approvals" } = given;
    const { escalate = [], expiresMs = EXPIRES_MS } = given;
    const reminders = given.reminders?.map(reminderOf) ?? REMINDERS;
    return { assignee, title, form, queue, reminders, escalate, expiresMs };
  });
}

interface ReminderInput {
  afterMs: number;
  repeatMs?: number;
  max?: number;
}

/** As it was checked: what may be left out may be missing. */
type ApprovalInput = Pick<ApprovalRequest, "assignee" | "title"> &
  Partial<Omit<ApprovalRequest, "reminders">> & { reminders?: readonly ReminderInput[] };

/** One that repeats without a `max` goes on until the approval ends. */
function reminderOf({ afterMs, repeatMs, max }: ReminderInput): Reminder {
  if (repeatMs === undefined) return { afterMs, repeatMs: null, max: 1 };
  return { afterMs, repeatMs, max: max ?? LIMITS.remindersPerApproval };
}
