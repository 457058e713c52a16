import type { Reply } from "../base/reply.ts";
import { parseActorInput } from "../activities/actor-input.ts";
import type { ActorRequest } from "../activities/actor-input.ts";
import { childIds, childKey } from "../activities/child-names.ts";
import { ERRORS, refuse } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import { ID_PATTERN } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { othersTurn } from "../base/pause.ts";
import { Permits } from "../base/permits.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Effect, Envelope } from "../lifecycle/types.ts";
import { invalidInput } from "./attempt.ts";
import { callActor } from "./call-actor.ts";
import type { Carried, Carrier, Leaver } from "./carriers.ts";
import { childEnded } from "./child-report.ts";
import type { Resident } from "./resident.ts";
import type { SpawnCommand } from "./rpc.ts";

/** Calls after which others get their turn for certain. */
const REST_AFTER = 2 * LIMITS.childCallsAtOnce;

type Start = Extract<Effect, { kind: "start" }>;

/** Spawns an activity's children. One that is refused has ended by that; what cannot be had now is tried again. */
export const startChildren: Carrier = async (resident, { effect }, signal) => {
  // Children that have children of their own, and so on, would keep everybody else from being heard.
  await othersTurn();
  const { actor, env } = resident;
  if (effect.kind !== "start" || actor === null || signal.aborted) return { done: true };
  const { envelope } = actor;
  const { ref } = effect;
  const parsed = parseActorInput(effect.input);
  if (!parsed.ok) return invalidInput(ref, parsed.pointer, parsed.message);
  const known = envelope.activities.find((one) => one.ref === ref)?.children ?? [];
  return await forEach(await spawnsOf(envelope, effect, parsed.value), async (command, index) => {
    // Nobody wants it any more, or what it has come to is known.
    if (signal.aborted || (known[index]?.outcome ?? null) !== null) return null;
    const reply =
      refusalOf(command) ?? (await callActor(env, command, (child, spawn) => child.spawn(spawn)));
    if (reply.ok || ERRORS[reply.failure.code].retryable) return reply;
    return await refused(resident, envelope, command, reply.failure);
  });
};

/** Ends the children of an activity that nobody waits for. Those that have not been spawned yet never will be. */
export const endChildren: Carrier<Leaver> = async ({ actor, env }, { effect }) => {
  if (effect.kind !== "cancel" || actor === null) return { done: true };
  const { tenant, id, uid } = actor.envelope;
  const { ref, children = [], listed = false, round } = effect;
  const parent = { id, uid, ref };
  return await forEach(children, async (child) => {
    if (!ID_PATTERN.test(child.id)) return null;
    const key = childKey(uid, ref, child.index, { isList: listed, round });
    const command = { tenant, id: child.id, parent, key };
    return await callActor(env, command, (object, abandon) => object.abandon(abandon));
  });
};

/** What the objects of the children are told; the same each time. */
async function spawnsOf(
  { tenant, id, uid, parent: above }: Envelope,
  { ref, round }: Start,
  request: ActorRequest,
): Promise<SpawnCommand[]> {
  const { definitionId, inputs, isList, context, refs } = request;
  const ids = childIds(uid, ref, request, round);
  const depth = 1 + (above === null ? 0 : (above.depth ?? 1));
  return await Promise.all(
    inputs.map(async (input, index) => {
      const parent = { id, uid, ref, index };
      const asked = {
        definitionId,
        ...(input === undefined ? {} : { input }),
        ...(context === undefined ? {} : { context }),
        ...(Object.keys(refs).length === 0 ? {} : { refs }),
        parent,
      };
      const keyed = {
        key: childKey(uid, ref, index, { isList, round }),
        request: await sha256Hex(canonicalJson(asked as unknown as JsonObject)),
        ifMatch: null,
        by: `actor:${id}`,
        principal: null,
      };
      // Behind the request's hash: a spawn that began before there were depths is repeated as it was.
      return { tenant, id: ids[index] as string, keyed, ...asked, parent: { ...parent, depth } };
    }),
  );
}

/** Why its object need not be asked; null otherwise. */
function refusalOf({ id, parent }: SpawnCommand): Reply | null {
  if (!ID_PATTERN.test(id))
    return refuse("invalid_request", `'${id}' is no id that an actor can have.`);
  const most = LIMITS.childDepth;
  if ((parent?.depth ?? 0) <= most) return null;
  return refuseLimit(
    "childDepth",
    `The child would have more than ${most} parents above it, the limit childDepth. Let something end the line where actors spawn their own kind.`,
  );
}

/** A child that there will never be: that is what it has come to. */
function refused(
  resident: Resident,
  { tenant, id, uid }: Envelope,
  { id: child, keyed: { key }, parent }: SpawnCommand,
  { code, detail }: Failure,
): Promise<Reply> {
  const { ref, index } = parent as NonNullable<SpawnCommand["parent"]>;
  const outcome = { error: { code, message: detail, attempts: 1 } };
  const report = { tenant, id, expect: { uid }, ref, index, outcome, child, by: null, key };
  return childEnded(resident, report);
}

/** Does the same to many, some at a time. `again` where it did not succeed with all of them. */
async function forEach<Item>(
  items: readonly Item[],
  call: (item: Item, index: number) => Promise<Reply | null>,
): Promise<Carried> {
  const permits = new Permits(LIMITS.childCallsAtOnce, REST_AFTER);
  const replies = await Promise.allSettled(
    items.map((item, index) => permits.run(() => call(item, index))),
  );
  for (const settled of replies) {
    if (settled.status === "rejected") throw settled.reason;
    const reply = settled.value;
    if (reply === null || reply.ok) continue;
    const { code, detail } = reply.failure;
    return { again: { code, message: detail, retryable: true } };
  }
  return { done: true };
}
