import {
  anything,
  count,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  text,
} from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { TASK_KINDS, TASK_STATUSES } from "../task-words.ts";

const state = {
  id: text,
  kind: oneOf(...TASK_KINDS),
  actorId: text,
  definitionId: text,
  activityId: { ...text, description: "The id of the invoke that it is of." },
  queue: text,
  assignee: orNull(text),
  title: orNull(text),
  status: oneOf(...TASK_STATUSES),
  attempts: { ...count, description: "Claims so far." },
  createdAt: instant,
  dueAt: orNull({
    ...instant,
    description:
      "When something happens to it that nobody asks for: its lease ends, nobody has claimed it, or it expires.",
  }),
  expiresAt: orNull({ ...instant, description: "Of an approval, on its actor's clock." }),
  remindersSent: count,
  escalatedTo: orNull(text),
  worker: orNull({ ...text, description: "Who claimed it last." }),
  leaseUntil: orNull(instant),
  details: { ...anything, description: "What its worker said with the last heartbeat." },
  errors: {
    ...list(object({ attempt: integer, at: instant, code: text, message: text })),
    description: "Attempts that failed, the last ones.",
  },
  endedAt: orNull(instant),
  endedBy: orNull(text),
};

const task = {
  ...state,
  form: { ...anything, description: "Of an approval: what the person is shown." },
  input: { ...anything, description: "Of a task: what the worker is given." },
};

export const TASKS: { [name: string]: JsonSchema } = {
  Task: object(task),
  TaskState: {
    ...object(state),
    description: "A task without what its actor gave it.",
  },
  ClaimedTask: object({
    ...task,
    leaseToken: { ...text, description: "Proves that the task is yours, until leaseUntil." },
    leaseUntil: instant,
    leaseMs: { ...count, description: "How long the lease is, from each heartbeat on." },
  }),
  Queue: object({
    name: text,
    depth: { ...count, description: "Tasks and approvals that are open." },
    claimed: count,
    oldestAgeMs: orNull({
      ...count,
      description: "How long the open one that waits longest is waiting.",
    }),
    waiting: { ...count, description: "Callers who wait for a task." },
  }),
};
