import { reasonText } from "../migration/reason.ts";
import type { Actor } from "./actor.ts";
import { settleChild } from "./children.ts";
import { changeRefs, control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { Effects } from "./effects.ts";
import { snapshotFault } from "./envelope.ts";
import { finish } from "./finish.ts";
import { fire } from "./fire.ts";
import type { Input, Origin } from "./input.ts";
import { receive, undelivered } from "./messages.ts";
import { moveBy } from "./move.ts";
import { react } from "./react.ts";
import { notMoved } from "./refuse-move.ts";
import { rescue } from "./rescue.ts";
import { retry } from "./retry.ts";
import { rollBack } from "./roll-back.ts";
import { settle } from "./settle.ts";
import { changeTask } from "./tasks.ts";
import { arm, timerFault } from "./timers.ts";

/**
 * One input, one record: a pure function of actor, input and time. An event that fails is refused and
 * leaves nothing; a timer that fails has no caller to tell, so it is recorded and parked.
 */
export function advance(actor: Actor, input: Input, at: number, origin: Origin): Advanced {
  const { envelope } = actor;
  switch (input.kind) {
    case "event": {
      const { kind, type, payload } = input;
      return react(actor, { ...payload, type }, { kind, type, payload }, at, origin);
    }
    case "message":
      return receive(actor, input, at, origin);
    case "activity_done":
    case "activity_failed":
      return settle(actor, input, at, origin);
    case "child_done":
    case "child_failed":
      return settleChild(actor, input, at, origin);
    case "task_changed":
      return changeTask(actor, input, at, origin) ?? failed("The task has ended.");
    case "undelivered":
      return undelivered(actor, input, at, origin);
    case "timer":
      return fire(actor, input, at, origin);
    case "paused":
    case "resumed": {
      const { kind, reason } = input;
      const status = kind === "paused" ? kind : "active";
      const payload = reason === null ? null : { reason };
      return control(actor, { status }, { kind, payload }, at, origin);
    }
    case "terminated": {
      const { kind, reason } = input;
      const payload = reason === null ? null : { reason };
      const effects = new Effects(envelope.seq + 1);
      const ended = finish({ ...envelope, status: kind }, effects, at);
      return control(actor, ended, { kind, payload, effects: effects.list }, at, origin);
    }
    case "retried":
      return retry(actor, input.items, at, origin);
    case "scheduled": {
      const { kind, type, payload, dueAt } = input;
      const set = arm(envelope, { kind: "schedule", event: { ...payload, type }, dueAt }, at);
      const armed = { ...envelope, ...set };
      const fault = timerFault(armed) ?? snapshotFault(armed);
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
