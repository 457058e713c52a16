import { LIMITS } from "../base/limits.ts";
import { bytesOver } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { foldType } from "../fingerprint/kernel.ts";
import type { Fault } from "../machine/evaluation.ts";
import type { Step } from "../machine/step.ts";
import type { Command, EventData } from "../machine/types.ts";
import { nextEvents, tagsOf } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import type { Origin } from "./input.ts";
import { snapshotFault } from "./envelope.ts";
import { encodeBody } from "./record.ts";
import { applyTimerCommand, timerFault, tooManyTimers } from "./timers.ts";
import { beginActivity, stopActivity } from "./activities.ts";
import { activityFault } from "./activity-set.ts";
import { Effects } from "./effects.ts";
import { finish } from "./finish.ts";
import { askSend } from "./send.ts";
import type { ActorStatus, Envelope, LogRecord } from "./types.ts";

/** What one input makes of an actor: the next one and the record that says so, or why nothing happens. */
export type Advanced = { ok: true; actor: Actor; record: LogRecord } | { ok: false; fault: Fault };

/** What a record says beside what every record says. */
export type RecordPart = Partial<LogRecord> & Pick<LogRecord, "kind">;

/** Carries a step's result over into envelope and record. */
export function conclude(
  actor: Actor,
  outcome: Step,
  part: RecordPart,
  at: number,
  origin: Origin,
  effects = new Effects(actor.envelope.seq + 1),
): Advanced {
  const { envelope: before, machine } = actor;
  const { live, state, commands, handled, reason, decisions } = outcome;
  let envelope = before;
  const emitted: EventData[] = [];
  for (const command of commands) {
    if (command.kind === "emit") emitted.push(command.event);
    else if (command.kind === "start_activity") {
      envelope = beginActivity(envelope, command, effects, at);
    } else if (command.kind === "stop_activity") {
      envelope = stopActivity(envelope, command, effects, at);
    } else if (command.kind === "send_to" && command.delayMs === null) {
      askSend(envelope, command, effects);
    } else if (command.kind === "set_ref") {
      const changed = changeRefs(envelope.refs, [[command.name, command.value]]);
      if ("fault" in changed) return { ok: false, fault: changed.fault };
      envelope = { ...envelope, refs: changed.refs };
    } else {
      envelope = { ...envelope, ...applyTimerCommand(envelope, timed(command), at) };
      // Now, not at the end: thousands of them would take long to put in order.
      const fault = tooManyTimers(envelope);
      if (fault) return { ok: false, fault };
    }
  }
  if (state !== null) {
    // Who is paused moves, and stays paused.
    const kept = state.status === "active" && before.status === "paused";
    const status: ActorStatus = kept ? "paused" : state.status;
    envelope = { ...envelope, machine: state, status };
  }
  if (live.status !== "active") {
    envelope = finish(envelope, effects, at);
  }
  if (envelope.generations !== before.generations) {
    const fault = timerFault(envelope);
    if (fault) return { ok: false, fault };
  }
  if (commands.some(({ kind }) => kind === "start_activity")) {
    const fault = activityFault(envelope);
    if (fault) return { ok: false, fault };
  }
  // Only types that callers and machines may choose are history; control records have none.
  if (handled && part.type) {
    const { fingerprint, length, steps } = envelope.history;
    const history = { fingerprint, length, steps: steps === null ? null : steps + 1 };
    if (!part.type.startsWith("@")) {
      history.fingerprint = foldType(fingerprint, part.type);
      history.length += 1;
    }
    envelope = { ...envelope, history };
  }
  const result: Record<string, JsonObject[string]> = {
    ...part.result,
    tags: tagsOf(live),
    status: envelope.status,
    definitionId: envelope.definitionId,
  };
  if (envelope.machine.output !== undefined) result["output"] = envelope.machine.output;
  if (!handled) result["nextEvents"] = nextEvents(live);
  const completed = complete(
    { envelope, machine, live },
    {
      ...part,
      handled: part.type ? handled : null,
      reason,
      decisions,
      emitted,
      effects: effects.list,
      result,
    },
    at,
    origin,
  );
  if (!completed.ok) return completed;
  const grown = snapshotFault(completed.actor.envelope, before.seq === 0 ? null : before);
  return grown === null ? completed : { ok: false, fault: grown };
}

type Timed = Parameters<typeof applyTimerCommand>[1];

/** A command that is about timers, as all are that came this far. */
function timed(command: Command): Timed {
  return command as Timed;
}

/** A record that does not step the machine. */
export function control(
  actor: Actor,
  changes: Partial<Envelope>,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  return complete({ ...actor, envelope: { ...actor.envelope, ...changes } }, part, at, origin);
}

function complete(actor: Actor, part: RecordPart, at: number, origin: Origin): Advanced {
  const seq = actor.envelope.seq + 1;
  if (seq > LIMITS.recordsPerActor && part.kind !== "terminated") {
    return {
      ok: false,
      fault: {
        code: "limit_exceeded",
        limit: "recordsPerActor",
        message: `The actor has ${LIMITS.recordsPerActor} records, the limit recordsPerActor; it can only be terminated.`,
      },
    };
  }
  const envelope = { ...actor.envelope, seq, at };
  const record: LogRecord = {
    seq,
    at,
    type: null,
    payload: null,
    ...origin,
    handled: null,
    reason: null,
    stateValue: envelope.machine.value,
    decisions: null,
    emitted: [],
    effects: [],
    result: null,
    fingerprint: envelope.history.fingerprint,
    epoch: envelope.epoch,
    timer: null,
    error: null,
    ...part,
  };
  const fault = recordFault(record);
  return fault === null
    ? { ok: true, actor: { ...actor, envelope }, record }
    : { ok: false, fault };
}

/** Null, or why a record cannot be kept. */
function recordFault(record: LogRecord): Fault | null {
  const bytes = bytesOver(LIMITS.recordBytes, encodeBody(record));
  if (bytes <= LIMITS.recordBytes) return null;
  return {
    code: "limit_exceeded",
    limit: "recordBytes",
    message: `The record of this would have ${bytes} bytes of JSON; the limit recordBytes is ${LIMITS.recordBytes}.`,
  };
}

export function changeRefs(
  refs: Envelope["refs"],
  changes: [string, string | null][],
): { refs: Envelope["refs"] } | { fault: Fault } {
  const changed = new Map(Object.entries(refs));
  for (const [name, value] of changes) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  if (changed.size > LIMITS.refsPerActor) {
    const message = `The actor would have ${changed.size} refs; the limit refsPerActor is ${LIMITS.refsPerActor}.`;
    return { fault: { code: "limit_exceeded", limit: "refsPerActor", message } };
  }
  return { refs: Object.fromEntries(changed) };
}
