import { LIMITS } from "../base/limits.ts";
import { bytesOver } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import type { Input, Origin } from "./input.ts";
import { hasRoomFor, park, react } from "./react.ts";
import { armed } from "./timers.ts";
import type { Undeliverable } from "./types.ts";

/** An event from another actor. Its sender does not wait for what becomes of it, so a step that fails is parked. */
export function receive(
  actor: Actor,
  { kind, type, payload }: Extract<Input, { kind: "message" }>,
  at: number,
  origin: Origin,
): Advanced {
  const event = { ...payload, type };
  const part = { kind, type, payload };
  const reacted = react(actor, event, part, at, origin);
  if (reacted.ok) return reacted;
  const timer = armed(actor.envelope, { kind, event, dueAt: at }, at);
  // One that cannot be kept is refused, and stays with its sender.
  if (!hasRoomFor(actor.envelope, timer)) return reacted;
  const { generation: generations } = timer;
  const counted = { ...actor, envelope: { ...actor.envelope, generations } };
  return park(counted, timer, reacted.fault, part, at, origin);
}

/** A message that its target will never take: somebody has to look. */
export function undelivered(
  actor: Actor,
  { kind, ref, to, event, code, message }: Extract<Input, { kind: "undelivered" }>,
  at: number,
  origin: Origin,
): Advanced {
  const error = { code, message };
  const item: Undeliverable = { ref, to, event, at, error };
  const others = actor.envelope.undeliverable.filter((one) => one.ref !== ref);
  const payload: JsonObject = { ref, to, event, error };
  return control(
    actor,
    { undeliverable: newest([...others, item]) },
    { kind, payload },
    at,
    origin,
  );
}

/** As many of the last as fit beside everything else; the log has them all. */
function newest(items: readonly Undeliverable[]): readonly Undeliverable[] {
  let kept = items.slice(-LIMITS.undeliverableKept);
  const tooLong = () =>
    bytesOver(LIMITS.undeliverableBytes, JSON.stringify(kept)) > LIMITS.undeliverableBytes;
  while (kept.length > 1 && tooLong()) kept = kept.slice(1);
  return kept;
}
