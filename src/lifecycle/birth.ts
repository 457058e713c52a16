import type { JsonObject } from "../base/json.ts";
import { EMPTY_FINGERPRINT } from "../fingerprint/kernel.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { ENGINE } from "../machine/engine.ts";
import { restore } from "../machine/live.ts";
import { readSnapshot } from "../machine/snapshot.ts";
import { adopt, start } from "../machine/step.ts";
import type { MachineState, StepScope } from "../machine/types.ts";
import { changeRefs, conclude } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import type { Birth, Origin } from "./input.ts";
import { ENVELOPE_FORMAT } from "./types.ts";
import type { Envelope } from "./types.ts";

/** Begins an actor: record 1. `epoch` is that of the rules it is born under. */
export function beginActor(
  address: { tenant: string; id: string },
  machine: CompiledMachine,
  birth: Birth,
  at: number,
  origin: Origin,
  epoch = 0,
): Advanced {
  const kind = birth.snapshot === undefined ? "spawned" : "adopted";
  const given = changeRefs({}, Object.entries(birth.refs ?? {}));
  if ("fault" in given) return { ok: false, fault: given.fault };
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
    epoch,
    history: { fingerprint: EMPTY_FINGERPRINT, length: 0, steps: 0 },
    entered: { seq: 1, steps: 0 },
    moves: [],
    machine: outcome.state as MachineState,
    timers: [],
    generations: 0,
    parked: [],
    activities: [],
    ended: [],
    undo: [],
    undeliverable: [],
    parent: birth.parent ?? null,
    refs: given.refs,
    clockOffsetMs: 0,
  };
  const born = { envelope, machine, live: outcome.live };
  const part: RecordPart = { kind, payload: { ...birth } as unknown as JsonObject };
  return conclude(born, outcome, part, at, origin);
}
