import type { Fault } from "../machine/evaluation.ts";
import { step } from "../machine/step.ts";
import type { EventData, StepScope } from "../machine/types.ts";
import { reasonText } from "../migration/reason.ts";
import type { JsonObject } from "../base/json.ts";
import { doneEvent, errorEvent, invokeOf } from "../machine/activity-events.ts";
import { endActivity } from "./activities.ts";
import type { Actor } from "./actor.ts";
import { changeRefs, conclude, control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import type { Input, Origin } from "./input.ts";
import { moveBy } from "./move.ts";
import { notMoved } from "./refuse-move.ts";
import { rescue } from "./rescue.ts";
import { rollBack } from "./roll-back.ts";
import { arm, inOrder, timerEvent, timerFault, timerName } from "./timers.ts";
import type { Envelope, RecordError, Timer } from "./types.ts";

/**
 * One input, one record: a pure function of actor, input and time. An event that fails is refused and
 * leaves nothing; a timer that fails has no caller to tell, so it is recorded and parked.
 */
export function advance(actor: Actor, input: Input, at: number, origin: Origin): Advanced {
  const { envelope } = actor;
  switch (input.kind) {
    case "event":
    case "message": {
      const { kind, type, payload } = input;
      return react(actor, { ...payload, type }, { kind, type, payload }, at, origin);
    }
    case "activity_done":
    case "activity_failed":
      return settle(actor, input, at, origin);
    case "child_done":
    case "child_failed":
    case "task_changed":
    case "undelivered":
      throw new Error(`An input of kind '${input.kind}' cannot be taken by this version.`);
    case "timer":
      return fire(actor, input.timerId, at, origin);
    case "paused":
    case "resumed":
    case "terminated": {
      const { kind, reason } = input;
      const status = kind === "resumed" ? "active" : kind;
      const changes = status === "terminated" ? { status, timers: [], parked: [] } : { status };
      return control(
        actor,
        changes as Partial<Envelope>,
        { kind, payload: reason === null ? null : { reason } },
        at,
        origin,
      );
    }
    case "retried": {
      const again = envelope.parked.filter(({ timer }) => input.items.includes(timer.id));
      const changes = {
        parked: envelope.parked.filter((item) => !again.includes(item)),
        timers: inOrder([...envelope.timers, ...again.map(({ timer }) => timer)]),
      };
      const payload = { items: again.map(({ timer }) => timer.id) };
      return control(actor, changes, { kind: "retried", payload }, at, origin);
    }
    case "scheduled": {
      const { kind, type, payload, dueAt } = input;
      const set = arm(envelope, { kind: "schedule", event: { ...payload, type }, dueAt }, at);
      const fault = timerFault({ ...envelope, ...set });
      if (fault) return { ok: false, fault };
      const result = { timerId: `t${set.generations}`, dueAt };
      return control(actor, set, { kind, type, payload: { dueAt, payload }, result }, at, origin);
    }
    case "unscheduled": {
      const { kind, timerId } = input;
      const timers = envelope.timers.filter(({ id }) => id !== timerId);
      const parked = envelope.parked.filter(({ timer }) => timer.id !== timerId);
      return control(actor, { timers, parked }, { kind, payload: { timerId } }, at, origin);
    }
    case "refs_changed": {
      const { kind, refs } = input;
      const changed = changeRefs(envelope.refs, Object.entries(refs));
      if ("fault" in changed) return { ok: false, fault: changed.fault };
      return control(actor, { refs: changed.refs }, { kind, payload: { refs } }, at, origin);
    }
    case "clock_advanced": {
      const { kind, ms } = input;
      const clockOffsetMs = envelope.clockOffsetMs + ms;
      return control(actor, { clockOffsetMs }, { kind, payload: { ms } }, at, origin);
    }
    case "migrated": {
      const moved = moveBy(actor, input.move, input.machine, at, origin);
      return moved.ok ? moved : failed(reasonText(moved));
    }
    case "not_migrated": {
      const { move, reason, stranded } = input;
      return notMoved(actor, move, reason, stranded, at, origin) ?? failed("It is known already.");
    }
    case "rolled_back":
      return rollBack(actor, input, at, origin);
    case "rescued": {
      const rescued = rescue(actor, input, at, origin);
      return "problems" in rescued ? failed(rescued.problems[0]?.message ?? "") : rescued;
    }
  }
}

/** What a replay says where the verb's own caller is told more. */
function failed(message: string): Advanced {
  return { ok: false, fault: { code: "expression_failed", message } };
}

/** The one result of an activity. */
function settle(actor: Actor, input: Result, at: number, origin: Origin): Advanced {
  const { envelope, machine } = actor;
  const { kind, ref } = input;
  const outcome = kind === "activity_done" ? { output: input.output } : { error: input.error };
  const attempts = kind === "activity_done" ? input.attempts : input.error.attempts;
  const payload = { ref, attempts, ...outcome } as unknown as JsonObject;
  const activity = envelope.activities.find((one) => one.ref === ref && one.status === "running");
  if (activity === undefined) {
    const id = envelope.ended.find((one) => one.ref === ref)?.id;
    const type = id === undefined ? null : stepName(kind, id);
    return control(actor, {}, { kind, type, payload, handled: false, reason: "late" }, at, origin);
  }
  const { id } = activity;
  const part: RecordPart = { kind, type: stepName(kind, id), payload };
  if (kind === "activity_failed") {
    const told = invokeOf(machine, activity)?.onError ?? false;
    if (!told) {
      const failed = { ...activity, status: "failed", error: input.error } as const;
      const activities = envelope.activities.map((one) => (one === activity ? failed : one));
      const timers = envelope.timers.filter(
        (timer) => timer.kind !== "activity" || timer.activity !== ref,
      );
      return control(
        actor,
        { activities, timers },
        { ...part, handled: false, reason: "nobody" },
        at,
        origin,
      );
    }
  }
  const ended = endActivity(
    envelope,
    activity,
    kind === "activity_done" ? "completed" : "failed",
    at,
    { attempts, error: kind === "activity_done" ? null : input.error },
  );
  const event =
    kind === "activity_done"
      ? doneEvent(id, input.output)
      : errorEvent(id, input.error as unknown as JsonObject);
  return react({ ...actor, envelope: ended }, event, part, at, origin);
}

type Result = Extract<Input, { kind: "activity_done" | "activity_failed" }>;

function stepName(kind: Result["kind"], id: string): string {
  return `@${kind === "activity_done" ? "done" : "error"}:${id}`;
}

function fire(actor: Actor, timerId: string, at: number, origin: Origin): Advanced {
  const { envelope, machine } = actor;
  const timer = envelope.timers.find(({ id }) => id === timerId);
  if (timer === undefined) throw new Error(`The actor has no timer '${timerId}'.`);
  const timers = envelope.timers.filter(({ id }) => id !== timerId);
  const without = { ...actor, envelope: { ...envelope, timers } };
  const { type: _type, ...payload } = "event" in timer ? timer.event : { type: "" };
  const part: RecordPart = {
    kind: "timer",
    type: timerName(timer),
    payload: "event" in timer ? payload : null,
    timer: { id: timer.id, dueAt: timer.dueAt },
  };
  const outcome = react(without, timerEvent(timer, machine), part, at, origin);
  return outcome.ok ? outcome : park(without, timer, outcome.fault, part, at, origin);
}

function park(
  actor: Actor,
  timer: Timer,
  fault: Fault,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope } = actor;
  const error: RecordError = { ...fault };
  const item = { timer, seq: envelope.seq + 1, at, error };
  const parked = [...envelope.parked, item];
  // Many long messages would outgrow the snapshot's row; the record has each of them whole.
  const brief = { ...item, error: { code: error.code, message: `See record ${item.seq}.` } };
  const bounded =
    timerFault({ ...envelope, parked }) === null ? parked : [...envelope.parked, brief];
  return control(actor, { parked: bounded }, { ...part, handled: false, error }, at, origin);
}

/** Gives an event to the machine. */
function react(
  actor: Actor,
  event: EventData,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope, machine, live } = actor;
  const scope: StepScope = {
    id: envelope.id,
    definitionId: envelope.definitionId,
    uid: envelope.uid,
    seq: envelope.seq + 1,
    now: at,
  };
  const outcome = step(machine, live, event, scope);
  if (!outcome.ok) return outcome;
  return conclude(actor, outcome, part, at, origin);
}
