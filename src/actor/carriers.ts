import { parseActorInput } from "../activities/actor-input.ts";
import { childIds } from "../activities/child-names.ts";
import type { AttemptFailure } from "../activities/types.ts";
import type { Input } from "../lifecycle/input.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { Effect, Envelope } from "../lifecycle/types.ts";
import { callService } from "./call-service.ts";
import { endChildren, startChildren } from "./children.ts";
import { handOut, showChange, takeBack } from "./hand-out.ts";
import type { OutboxItem } from "./outbox.ts";
import type { Resident } from "./resident.ts";
import { runSource } from "./run-source.ts";
import { sendMessage } from "./send-message.ts";
import { tellParent } from "./tell-parent.ts";

/**
 * Carries out one effect once. It may be called again after it has succeeded: a crash can come before that is written down.
 * `signal`: nobody waits for it any more. What it throws counts as `again`.
 */
export type Carrier<Asker = Resident> = (
  asker: Asker,
  item: OutboxItem,
  signal: AbortSignal,
) => Promise<Carried>;

/** Who asks for what is done also for an actor that is being deleted. */
export type Leaver = Pick<Resident, "env" | "db"> & {
  readonly actor: Pick<Actor, "envelope"> | null;
};

/**
 * `done`: the item goes; a result, where there is one, comes later by `settle`. `again`: another attempt after `pauseMs`, or
 * after a pause that grows by itself. `input`: it goes, and this is recorded.
 */
export type Carried =
  | { done: true }
  | { again: AttemptFailure; pauseMs?: number }
  | { input: Input };

/** Who carries out what; of starts, by the source. */
export interface Carriers {
  start: { readonly [src: string]: Carrier };
  /** Starts of sources in code. */
  code: Carrier | null;
  cancel: { readonly [src: string]: Carrier<Leaver> };
  update: Carrier | null;
  send: Carrier | null;
  tell_parent: Carrier<Leaver> | null;
}

export const CARRIERS: Carriers = {
  start: { http: callService, task: handOut, approval: handOut, actor: startChildren },
  code: runSource,
  cancel: { task: takeBack, approval: takeBack, actor: endChildren },
  update: showChange,
  send: sendMessage,
  tell_parent: tellParent,
};

/** Null where nobody carries out such an effect. */
export function carrierOf(effect: Effect, carriers: Carriers = CARRIERS): Carrier | null {
  switch (effect.kind) {
    case "start":
      return own(carriers.start, effect.src) ?? carriers.code;
    case "cancel":
    case "tell_parent":
      return parting(effect, carriers);
    default:
      return carriers[effect.kind];
  }
}

/** Of what is done also for an actor that is being deleted; null of anything else. */
export function parting(effect: Effect, carriers: Carriers = CARRIERS): Carrier<Leaver> | null {
  if (effect.kind === "tell_parent") return carriers.tell_parent;
  return effect.kind === "cancel" ? own(carriers.cancel, effect.src) : null;
}

function own<Asker>(
  carriers: { readonly [src: string]: Carrier<Asker> },
  src: string,
): Carrier<Asker> | null {
  return Object.hasOwn(carriers, src) ? (carriers[src] as Carrier<Asker>) : null;
}

/**
 * Effects of one lane are carried out one at a time, in their order: what becomes of one activity, and what one receiver is
 * told. Lanes do not wait for each other.
 */
export function laneOf(effect: Effect, { parent }: Pick<Envelope, "parent">): string {
  switch (effect.kind) {
    case "send":
      return laneTo(effect.to);
    case "tell_parent":
      return laneTo(parent?.id ?? "");
    default:
      return effect.ref;
  }
}

/** Lanes of those that will be there when an effect is carried out: a message to a child waits for its spawn. */
export function lanesAfter(effect: Effect, { uid }: Pick<Envelope, "uid">): string[] {
  if (effect.kind !== "start" || effect.src !== "actor") return [];
  const parsed = parseActorInput(effect.input);
  return parsed.ok ? childIds(uid, effect.ref, parsed.value, effect.round).map(laneTo) : [];
}

function laneTo(actorId: string): string {
  return `to ${actorId}`;
}
