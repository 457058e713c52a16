import { callObject } from "../base/call-object.ts";
import { PerdureError } from "../base/errors.ts";
import { actorObjectName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { given } from "../base/refused.ts";
import { wakingTurn } from "../base/waking.ts";
import { within } from "../base/within.ts";
import type { Selected } from "../directory/rpc.ts";
import { reasonText } from "../migration/reason.ts";
import type { Env } from "../env.ts";

/** Why an actor could not be asked; null when it was, or is gone. */
export type Fault = string | null;

/** Has one incarnation go by rules as young as `epoch`. Any number of times; never throws. */
export async function askActor(
  env: Pick<Env, "ACTORS" | "PERDURE_WAKES_PER_SECOND">,
  { tenant, ruleId, epoch }: { tenant: string; ruleId: string; epoch: number },
  { id, uid }: Selected,
): Promise<Fault> {
  try {
    await wakingTurn(env);
    const call = callObject(env.ACTORS, actorObjectName(tenant, id), true, (actor) =>
      actor.migrate({ tenant, id, expect: { uid }, ruleId, epoch }),
    );
    given(await within(LIMITS.sweepCallMs, call));
    return null;
  } catch (error) {
    if (!(error instanceof PerdureError)) {
      logError("error", error, { during: "sweep" });
      return "internal_error: Something failed on our side.";
    }
    const { code, detail } = error.failure;
    if (code === "actor_not_found" || code === "actor_deleted") return null;
    return reasonText({ code, message: detail });
  }
}
