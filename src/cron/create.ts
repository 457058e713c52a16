import { callObject } from "../base/call-object.ts";
import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import { bytesOver, canonicalJson } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import { countSchedules, findSchedule, insertSchedule } from "../storage/cron-schedules.ts";
import type { ScheduleRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";
import { answerOnce, answeredBefore } from "../storage/once.ts";
import { slotsOf, timingProblem } from "./pattern.ts";
import type { CreateSchedule, ScheduleSpec } from "./rpc.ts";
import { scheduleView } from "./view.ts";

/** Keeps a schedule, or answers why not; `stored` and `open` give the database without and with its tables. */
export async function create(
  stored: () => Db | null,
  open: () => Db,
  env: Pick<Env, "REGISTRY">,
  command: CreateSchedule,
): Promise<Reply> {
  const { tenant, id, spec, principal } = command;
  const before = answeredBefore(stored(), command);
  if (before) return before;
  const now = Date.now();
  const action = canonicalJson({ spawn: spec.spawn, send: spec.send } as unknown as JsonValue);
  const refusal = unfit(spec, action, now) ?? (await unknownDefinition(env, tenant, spec));
  if (refusal) return refusal;

  return answerOnce(stored(), open, command, now, () => {
    const db = open();
    if (findSchedule(db, id)) {
      return refuse(
        "schedule_exists",
        `The id '${id}' belongs to a schedule that another call created; choose another id, or none.`,
      );
    }
    if (countSchedules(db) >= LIMITS.schedulesPerTenant) {
      return refuseLimit(
        "schedulesPerTenant",
        `A tenant has at most ${LIMITS.schedulesPerTenant} schedules; delete one that is no longer needed.`,
      );
    }
    const { cron, timezone, catchUp } = spec;
    const next_at = slotsOf(cron, timezone)(now);
    const row = { id, cron, timezone, catch_up: catchUp, principal, created_at: now, next_at };
    insertSchedule(db, tenant, row, action);
    return answer(201, scheduleView(db, findSchedule(db, id) as ScheduleRow));
  });
}

function unfit(spec: ScheduleSpec, action: string, now: number): Refused | null {
  const problem = timingProblem(spec.cron, spec.timezone, now);
  if (problem) {
    const [, member] = problem.pointer.split("/");
    return refuse("invalid_request", `The member ${member} ${problem.message}`, {
      errors: [problem],
    });
  }
  if (bytesOver(LIMITS.scheduleBytes, action) <= LIMITS.scheduleBytes) return null;
  return refuseLimit(
    "scheduleBytes",
    `What a schedule spawns or sends has at most ${LIMITS.scheduleBytes} bytes of JSON.`,
  );
}

/** A schedule that could never spawn is a mistake that is better told at once. */
async function unknownDefinition(
  env: Pick<Env, "REGISTRY">,
  tenant: string,
  { spawn }: ScheduleSpec,
): Promise<Refused | null> {
  if (spawn === null) return null;
  const { definitionId } = spawn;
  const known = await callObject(env.REGISTRY, tenant, true, (registry) =>
    registry.knows(definitionId),
  );
  if (typeof known !== "boolean") return known;
  if (known) return null;
  return refuse(
    "definition_not_found",
    `There is no definition or family ${definitionId}; deploy it first.`,
    {
      errors: [
        {
          pointer: "/spawn/definitionId",
          code: "definition_not_found",
          message: "is not deployed",
        },
      ],
    },
  );
}
