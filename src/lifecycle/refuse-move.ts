import type { JsonObject } from "../base/json.ts";
import { reasonText } from "../migration/reason.ts";
import type { Move, RuleMark } from "../migration/rule.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import { NO_ORIGIN } from "./input.ts";
import type { Origin } from "./input.ts";
import { stateHash, withMark } from "./marks.ts";
import type { Envelope } from "./types.ts";

/**
 * The rule matches and cannot move the actor: it stays where it is, running, or stranded where the rule says so.
 * A paused one is stranded when it is resumed. Null when that was recorded for this state before, or the actor's log is full.
 */
export function refuseMove(
  actor: Actor,
  move: Move,
  reason: { code: string; message: string },
  strand: boolean,
  at: number,
): (Advanced & { ok: true }) | null {
  return notMoved(actor, move, reasonText(reason), strand, at, NO_ORIGIN);
}

/** The same with the reason as it stands in a record. */
export function notMoved(
  { envelope, machine, live }: Actor,
  { entered: _entered, ...move }: Omit<Move, "entered"> & Partial<Move>,
  reason: string,
  strand: boolean,
  at: number,
  origin: Origin,
): (Advanced & { ok: true }) | null {
  const { ruleId, decidedAtSeq } = move;
  const outcome = strand && envelope.status !== "paused" ? "stranded" : "unmappable";
  const state = stateHash(envelope.machine.value);
  const before = envelope.moves.find((mark) => mark.ruleId === ruleId);
  if (before?.state === state && before.outcome === outcome) return null;
  const mark: RuleMark = { ruleId, outcome, reason, state, decidedAtSeq, at };
  const changes: Partial<Envelope> = { moves: withMark(envelope.moves, mark) };
  if (outcome === "stranded") changes.status = "stranded";
  const advanced = control(
    { envelope, machine, live },
    changes,
    {
      kind: "migrated",
      payload: move as unknown as JsonObject,
      result: { outcome },
      error: { code: "unmappable", message: reason },
    },
    at,
    origin,
  );
  return advanced.ok ? advanced : null;
}
