import type { TaskKind, TaskStatus } from "../../tasks/rpc.ts";

export const TASK_KINDS = ["task", "approval"] as const satisfies readonly TaskKind[];

export const TASK_STATUSES = [
  "open",
  "claimed",
  "done",
  "failed",
  "expired",
  "cancelled",
] as const satisfies readonly TaskStatus[];
