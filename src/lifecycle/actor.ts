import type { CompiledMachine } from "../machine/compile.ts";
import { restore } from "../machine/live.ts";
import type { Live } from "../machine/live.ts";
import type { Envelope } from "./types.ts";

/** An actor in memory: its snapshot, and the same ready to step. Never changed, only replaced. */
export interface Actor {
  readonly envelope: Envelope;
  readonly machine: CompiledMachine;
  readonly live: Live;
}

export function wake(envelope: Envelope, machine: CompiledMachine): Actor {
  return { envelope, machine, live: restore(machine, envelope.machine) };
}

export function isFinished(envelope: Envelope): boolean {
  return (
    envelope.status === "done" || envelope.status === "error" || envelope.status === "terminated"
  );
}
