import type { JsonObject } from "../base/json.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { actorTime } from "../lifecycle/timers.ts";
import { actorView } from "../lifecycle/view.ts";
import type { Resident } from "./resident.ts";

/** An actor on the wire as it is now, with how far its work outside is. */
export function presentView(resident: Resident, actor: Actor): JsonObject {
  return actorView(actor, actorTime(actor.envelope, Date.now()), resident.outbox);
}
