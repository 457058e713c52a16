import { ACTOR_INPUT } from "./actor-input.ts";
import { APPROVAL_INPUT } from "./approval-input.ts";
import { HTTP_INPUT } from "./http-input.ts";
import { CODE_INPUT } from "./policy-input.ts";
import { satisfies } from "./shape.ts";
import type { Shape } from "./shape.ts";
import { TASK_INPUT } from "./task-input.ts";
import { isBuiltInSource } from "./types.ts";
import type { BuiltInSource } from "./types.ts";

const INPUTS: Record<BuiltInSource, Shape> = {
  http: HTTP_INPUT,
  task: TASK_INPUT,
  approval: APPROVAL_INPUT,
  actor: ACTOR_INPUT,
  compensate: satisfies((value) => value === null, "`compensate` takes no input: leave it out."),
};

/** What a source takes; null stands for no input. */
export function inputShape(src: string): Shape {
  return isBuiltInSource(src) ? INPUTS[src] : CODE_INPUT;
}
