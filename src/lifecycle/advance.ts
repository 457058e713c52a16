import { LIMITS } from "../base/limits.ts";
import type { JsonObject } from "../base/json.ts";
import { EMPTY_FINGERPRINT, foldType } from "../fingerprint/kernel.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { ENGINE } from "../machine/engine.ts";
import type { Fault } from "../machine/evaluation.ts";
import { restore } from "../machine/live.ts";
import { readSnapshot } from "../machine/snapshot.ts";
import { adopt, start, step } from "../machine/step.ts";
import type { Step } from "../machine/step.ts";
import type { EventData, MachineState, StepScope } from "../machine/types.ts";
import { nextEvents, tagsOf } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import type { Birth, Input, Origin } from "./input.ts";
import { applyTimerCommand, arm, inOrder, timerEvent, timerFault, timerName } from "./timers.ts";
import { ENVELOPE_FORMAT } from "./types.ts";
import type { ActorStatus, Envelope, LogRecord, RecordError, Timer } from "./types.ts";

export type Advanced = { ok: true; actor: Actor; record: LogRecord } | { ok: false; fault: Fault };

/** What a record says beside what every record says. */
type RecordPart = Partial<LogRecord> & Pick<LogRecord, "kind">;

/** Begins an actor: record 1. */
export function beginActor(
  address: { tenant: string; id: string },
  machine: CompiledMachine,
  birth: Birth,
  at: number,
  origin: Origin,
): Advanced {
  const kind = birth.snapshot === undefined ? "spawned" : "adopted";
  const scope: StepScope = {
    id: address.id,
    definitionId: birth.definitionId,
    uid: birth.uid,
    seq: 1,
    now: at,
  };
  const outcome =
    birth.snapshot === undefined
      ? start(machine, scope, birth.input, birth.context)
      : adopt(machine, restore(machine, readSnapshot(machine, birth.snapshot)), scope);
  if (!outcome.ok) return outcome;
  const envelope: Envelope = {
    format: ENVELOPE_FORMAT,
    engine: ENGINE,
    implementations: machine.implementations,
    tenant: address.tenant,
    id: address.id,
    uid: birth.uid,
    definitionId: birth.definitionId,
    definitionHash: birth.definitionHash,
    family: machine.family,
    status: "active",
    seq: 0,
    at,
    bornAt: at,
    epoch: 0,
    history: { fingerprint: EMPTY_FINGERPRINT, length: 0 },
    machine: outcome.state as MachineState,
    timers: [],
    generations: 0,
    parked: [],
    refs: birth.refs ?? {},
    clockOffsetMs: 0,
  };
  const born = { envelope, machine, live: outcome.live };
  const part: RecordPart = { kind, payload: { ...birth } as unknown as JsonObject };
  return conclude(born, outcome, part, at, origin);
}

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
      return control(actor, { timers }, { kind, payload: { timerId } }, at, origin);
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
  }
}

function fire(actor: Actor, timerId: string, at: number, origin: Origin): Advanced {
  const { envelope, machine } = actor;
  const timer = envelope.timers.find(({ id }) => id === timerId);
  if (timer === undefined) throw new Error(`The actor has no timer '${timerId}'.`);
  const timers = envelope.timers.filter(({ id }) => id !== timerId);
  const without = { ...actor, envelope: { ...envelope, timers } };
  const { type: _type, ...payload } = timer.kind === "after" ? { type: "" } : timer.event;
  const part: RecordPart = {
    kind: "timer",
    type: timerName(timer),
    payload: timer.kind === "after" ? null : payload,
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
  const parked = [...envelope.parked, { timer, seq: envelope.seq + 1, at, error }];
  return control(actor, { parked }, { ...part, handled: false, error }, at, origin);
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

/** Carries a step's result over into envelope and record. */
function conclude(
  actor: Actor,
  outcome: Step,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope: before, machine } = actor;
  const { live, state, commands, handled, reason, decisions } = outcome;
  let envelope = before;
  const emitted: EventData[] = [];
  for (const command of commands) {
    if (command.kind === "emit") emitted.push(command.event);
    else if (command.kind === "set_ref") {
      const changed = changeRefs(envelope.refs, [[command.name, command.value]]);
      if ("fault" in changed) return { ok: false, fault: changed.fault };
      envelope = { ...envelope, refs: changed.refs };
    } else envelope = { ...envelope, ...applyTimerCommand(envelope, command, at) };
  }
  if (state !== null) {
    envelope = { ...envelope, machine: state, status: state.status as ActorStatus };
  }
  if (live.status !== "active") envelope = { ...envelope, timers: [], parked: [] };
  if (envelope.timers !== before.timers) {
    const fault = timerFault(envelope);
    if (fault) return { ok: false, fault };
  }
  // Only types that callers and machines may choose are history; control records have none.
  if (handled && part.type && !part.type.startsWith("@")) {
    const { fingerprint, length } = envelope.history;
    const history = { fingerprint: foldType(fingerprint, part.type), length: length + 1 };
    envelope = { ...envelope, history };
  }
  const result: Record<string, JsonObject[string]> = {
    tags: tagsOf(live),
    status: envelope.status,
    definitionId: envelope.definitionId,
  };
  if (envelope.machine.output !== undefined) result["output"] = envelope.machine.output;
  if (!handled) result["nextEvents"] = nextEvents(live);
  return complete(
    { envelope, machine, live },
    { ...part, handled: part.type ? handled : null, reason, decisions, emitted, result },
    at,
    origin,
  );
}

/** A record that does not step the machine. */
function control(
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
    result: null,
    fingerprint: envelope.history.fingerprint,
    epoch: envelope.epoch,
    timer: null,
    error: null,
    ...part,
  };
  return { ok: true, actor: { ...actor, envelope }, record };
}

function changeRefs(
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
    return { fault: { code: "limit_exceeded", message } };
  }
  return { refs: Object.fromEntries(changed) };
}
